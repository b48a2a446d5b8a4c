"""A real MediaWiki, as something to crawl that this project hasn't written: on SQLite and PHP's built-in server."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from crawler.base.errors import UnavailableError
from testbed.servers.process import Server, answers_http, free_port, run_to_end

INSTALL_SECONDS = 60.0
IMPORT_SECONDS = 300.0  # the longest import; 15 ms a page on an idle machine
LIST_SECONDS = 30.0  # for one list of titles
# SQLite needn't wait for the disk, because no test goes on after a crash; the waiting took two thirds of an import.
NO_SYNC = """
$wgDBservers = [ [ 'type' => 'sqlite', 'dbname' => $wgDBname, 'dbDirectory' => $wgSQLiteDataDir, 'load' => 1,
    'variables' => [ 'synchronous' => 'OFF' ] ] ];
$wgObjectCaches[CACHE_DB]['server']['variables']['synchronous'] = 'OFF';
$wgLocalisationCacheConf['storeServer']['variables']['synchronous'] = 'OFF';
$wgJobTypeConf['default']['server']['variables']['synchronous'] = 'OFF';
"""
DEBIAN_PACKAGES = "mediawiki php-cli php-sqlite3 php-xml php-mbstring php-intl"


class MediaWiki(Server):
    """A wiki with imported pages.

    Args:
        folder: Data, configuration and log go to a folder `mediawiki` in it.
        pages: Text by title.

    Raises:
        UnavailableError: MediaWiki or PHP isn't installed.
    """

    def __init__(self, folder: Path, pages: dict[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._program = _installed()
        self.pages = pages
        own = folder / "mediawiki"
        super().__init__(
            "mediawiki",
            ["php", "-S", f"127.0.0.1:{self.port}", "-t", str(self._program)],
            own,
            environment={"MW_CONFIG_FILE": str(own / "LocalSettings.php"), "PHP_CLI_SERVER_WORKERS": "2"},
        )

    def start(self) -> None:
        """Starts the wiki and waits until it answers; the first time, installs it and imports the pages."""
        if not (self.folder / "LocalSettings.php").exists():
            self._install()
        super().start()

    def titles(self) -> set[str]:
        """Returns the titles that the wiki itself lists in its main namespace: what a crawl has to find."""
        titles: set[str] = set()
        more = ""
        while True:
            query = f"{self.url}/api.php?action=query&format=json&list=allpages&aplimit=500{more}"
            with urllib.request.urlopen(query, timeout=LIST_SECONDS) as response:  # noqa: S310 -- the server is our own
                answer = json.load(response)
            titles.update(page["title"] for page in answer["query"]["allpages"])
            if "continue" not in answer:
                return titles
            more = "&apcontinue=" + urllib.parse.quote(answer["continue"]["apcontinue"])

    def _install(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        options = ["--dbtype", "sqlite", "--dbpath", self.folder / "data", "--confpath", self.folder]
        options += ["--server", self.url, "--scriptpath", "", "--pass", "a-long-test-password"]
        self._maintain("install.php", *options, "Test wiki", "Admin", seconds=INSTALL_SECONDS)
        with (self.folder / "LocalSettings.php").open("a") as file:
            file.write(NO_SYNC)
        self._import()

    def _import(self) -> None:
        texts = self.folder / "texts"
        texts.mkdir()
        for title, text in self.pages.items():
            (texts / f"{title}.txt").write_text(text)
        files = sorted(texts.iterdir())
        self._maintain("importTextFiles.php", "--bot", "-u", "Admin", *files, seconds=IMPORT_SECONDS)
        self._maintain("runJobs.php", seconds=IMPORT_SECONDS)

    def _maintain(self, script: str, *arguments: object, seconds: float) -> None:
        command = ["php", str(self._program / "maintenance" / script), *map(str, arguments)]
        environment = {"MW_CONFIG_FILE": str(self.folder / "LocalSettings.php")} if script != "install.php" else {}
        run_to_end(script, command, self.folder, seconds, environment)

    def _answers(self) -> bool:
        return answers_http(self.port, "/api.php?action=query&meta=siteinfo&format=json")


def _installed() -> Path:
    """Returns the folder of Debian's MediaWiki.

    Raises:
        UnavailableError: There is none.
    """
    if shutil.which("php") and shutil.which("dpkg-query"):
        command = ["dpkg-query", "-L", "mediawiki"]
        listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 -- constants
        for line in listing.splitlines():
            if line.endswith("/maintenance/importTextFiles.php"):
                return Path(line).parents[1]
    raise UnavailableError(f"MediaWiki: Debian's packages aren't all installed: {DEBIAN_PACKAGES}")
