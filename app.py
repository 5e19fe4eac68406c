"""Starts the playground at http://127.0.0.1:7860, or as the variables say that `python -m playground serve --help` names."""

if __name__ == "__main__":
    from playground.cli import start_page  # imported here: training processes import this module too, and need no page

    start_page()
