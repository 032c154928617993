"""Open every built page in headless Chromium, wide and narrow, and look for what a reader would stumble over.

    python docs/check_pages.py [FOLDER]

fails if a page runs off its window, asks another machine for a file, lacks a picture, or has a script that fails. Where
there is no Chromium it says so and ends well.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from typing import Any

WIDTHS = (1200, 400)
AT_ONCE = 8
PATIENCE = 600  # seconds for all pages

HARNESS = """<!doctype html><body><script>
SETTINGS
const look = (page, width) => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.onload = () => setTimeout(() => {
    const inside = frame.contentDocument, found = [];
    const excess = inside.documentElement.scrollWidth - width;
    if (excess > 1) found.push(`runs off by ${excess} pixels`);
    for (const picture of inside.images)
      if (picture.complete && picture.naturalWidth === 0) found.push(`no picture: ${picture.src}`);
    for (const asked of frame.contentWindow.performance.getEntriesByType("resource"))
      if (!asked.name.startsWith(location.origin) && !asked.name.startsWith("data:"))
        found.push(`asks for ${asked.name}`);
    frame.remove();
    done(found.map(what => ({page, width, what})));
  }, 400);
  frame.src = page;
  document.body.append(frame);
});
(async () => {
  const found = [], left = PAGES.flatMap(page => WIDTHS.map(width => [page, width]));
  const work = async () => { while (left.length) found.push(...await look(...left.pop())); };
  await Promise.all(Array.from({length: AT_ONCE}, work));
  await fetch("/__found__", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""


class Handler(SimpleHTTPRequestHandler):
    """Serves the pages and the harness, and takes what it found."""

    harness: bytes
    found: "Queue[list[dict[str, Any]]]"

    def do_GET(self) -> None:
        if self.path != "/__check__":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.harness)

    def do_POST(self) -> None:
        self.found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def look(browser: str, folder: Path) -> list[str]:
    """Return what is wrong with the pages of a folder."""
    pages = sorted(
        "/" + str(page.relative_to(folder)) for page in folder.rglob("*.html") if "_static" not in page.parts
    )
    settings = f"const PAGES = {json.dumps(pages)}, WIDTHS = {json.dumps(WIDTHS)}, AT_ONCE = {AT_ONCE};"
    harness = HARNESS.replace("SETTINGS", settings).encode()
    found: Queue[list[dict[str, Any]]] = Queue()
    handler = partial(type("Pages", (Handler,), {"harness": harness, "found": found}), directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile, tempfile.TemporaryFile("w+") as log:
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
        ]
        address = f"http://127.0.0.1:{server.server_port}/__check__"
        running = subprocess.Popen([browser, *options, "--remote-debugging-port=0", address], stdout=log, stderr=log)
        try:
            wrong = [f"{each['page']} at {each['width']}: {each['what']}" for each in found.get(timeout=PATIENCE)]
        except Empty:
            wrong = [f"the browser did not answer within {PATIENCE} seconds"]
        running.terminate()
        running.wait()
        server.shutdown()
        log.seek(0)
        wrong += [line.strip() for line in log if ":CONSOLE" in line and ("Uncaught" in line or "Error" in line)]
    print(f"looked at {len(pages)} pages, {WIDTHS[0]} and {WIDTHS[1]} pixels wide: {len(wrong)} things are wrong")
    return wrong


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "_build" / "html").resolve()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("The pages were not looked at: there is no Chromium here (Debian: apt install chromium).")
        return
    wrong = look(browser, folder)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
