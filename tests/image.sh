#!/bin/sh
# Builds the image, runs it as compose.yaml does (read-only root, a volume, no capabilities), and checks its size, its user, the page, its
# health, and that SIGTERM saves a run in training. With Docker: sh tests/image.sh. BUILD and RUN are more options for the engine.
# Where no image can be pulled, as root, on a base of Debian's packages: ENGINE=podman RUN="--network host" sh tests/image.sh debian
set -eu
cd "$(dirname "$0")/.."
engine=${ENGINE:-docker} name=playground-check
clean() { ($engine rm -f $name; $engine volume rm -f $name) >/dev/null 2>&1 || true; }
trap clean EXIT
clean
if [ "${1:-}" = debian ]; then
  root=$(mktemp -d)
  debootstrap --variant=minbase --include=python3-pip,python-is-python3 bookworm "$root" >/dev/null
  rm -rf "$root"/usr/lib/python3*/EXTERNALLY-MANAGED "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
  tar -C "$root" -c . | $engine import - localhost/base >/dev/null
  rm -rf "$root"
  BUILD="--isolation chroot --format docker --from localhost/base ${BUILD:-}"
fi
$engine build ${BUILD:-} -t $name .
bytes=$($engine image inspect --format '{{.Size}}' $name)
echo "the image: $((bytes / 1000000)) MB"
test "$bytes" -lt 1600000000

serve() {
  $engine run -d --name $name ${RUN:-} -e "PORT=${PORT:-7860}" -v $name:/home/user/runs --read-only --tmpfs /tmp --cap-drop all \
    --security-opt no-new-privileges $name >/dev/null
  for _ in $(seq 100); do
    ask 'print("it listens:", web.urlopen(url + "/health").read(40))' 2>/dev/null && return
    sleep 0.5
  done
  $engine logs $name && exit 1
}
ask() { # runs Python in the container
  $engine exec $name python -c "
import os, time, urllib.request as web
url, note = 'http://127.0.0.1:' + os.environ['PORT'], '/home/user/runs/note'
def status(run): return client.predict(run=run, api_name='/status')
$1"
}
client='from gradio_client import Client; client = Client(url, verbose=False)'

serve
ask "$client
assert b'pg-known' in web.urlopen(url).read()
assert (os.getuid(), os.access('/', os.W_OK), os.access('app.py', os.W_OK)) == (1000, False, False)
assert 'CapBnd:\t0000000000000000' in open('/proc/1/status').read()
run = client.predict(owner='0' * 32, steps=20_000, api_name='/train')['run']
while status(run)['step'] < 20: time.sleep(0.1)
print(run, status(run)['step'], file=open(note, 'w'), flush=True)
print('in training: run, step', *open(note))"
$engine stop -t 10 $name >/dev/null
test "$($engine inspect --format '{{.State.ExitCode}}' $name)" = 0
$engine rm $name >/dev/null
serve
ask "$client
run, step = open(note).read().split()
state = status(run)
print('after a restart:', state['status'], state['step'])
assert state['step'] >= int(step) and state['status'] in ('interrupted', 'queued', 'preparing', 'training')"
