"""Starts the playground: http://127.0.0.1:7860, or where PORT and the GRADIO_* variables say."""

if __name__ == "__main__":
    from playground.ui.server import serve  # here: a process that trains imports this module once more, and needs no page

    serve()
