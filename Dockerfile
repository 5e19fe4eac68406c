# The same app as a Docker Space or at home: user 1000, port 7860, nothing fetched at run time.
FROM python:3.12-slim
# Where torch comes from: its CPU wheel, 192 MB. With none (`--build-arg WHEELS=`) from pip's own index, with CUDA: 2.7 GB.
ARG WHEELS=https://download.pytorch.org/whl/cpu
RUN useradd --create-home --uid 1000 user
USER user
WORKDIR /home/user/app
ENV PATH=/home/user/.local/bin:$PATH GRADIO_SERVER_NAME=0.0.0.0 PORT=7860 PYTHONUNBUFFERED=1 PLAYGROUND_DATA=/home/user/runs
COPY --chown=user requirements.txt .
# Without the tests and headers that torch and pandas bring, and compiled only as far as the page imports it: 0.4 GB less.
RUN pip install --no-cache-dir --no-compile --user ${WHEELS:+--extra-index-url "$WHEELS"} -r requirements.txt \
  && cd ~/.local/lib/python3*/site-packages && rm -rf torch/test torch/include torch/bin/*est* torch/bin/protoc* pandas/tests
COPY --chown=user . .
# The folder is made by this user, so that a new volume belongs to them too.
RUN mkdir /home/user/runs && python -c "import pandas, plotly.graph_objects, sacrebleu, playground.ui.server"
VOLUME /home/user/runs
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD \
  ["python", "-c", "import os, urllib.request as ask; ask.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/health', timeout=8)"]
CMD ["python", "app.py"]
