"""Starts the playground: http://127.0.0.1:7860, or where PORT and the GRADIO_* variables say."""

from playground.ui.server import serve

if __name__ == "__main__":
    serve()
