// Imports every script outside this folder; the server writes the imports (see playground/ui/assets.py).
// @ts-check

export {};
