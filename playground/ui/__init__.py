"""The page: the only place that knows Gradio. Controls are made from knobs, panels from what runs/ reads; nothing here touches torch."""
