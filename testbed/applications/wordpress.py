"""WordPress with articles, authors and comments, on a MariaDB of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.base.errors import UnavailableError
from testbed.applications.application import Application
from testbed.applications.html import html_of
from testbed.applications.page import Remark, TruePage
from testbed.servers.process import Server, run_to_end

if TYPE_CHECKING:
    from testbed.applications.articles import Article

PROGRAM = Path("/usr/share/wordpress")  # where Debian has it
DEBIAN_PACKAGES = (
    "wordpress wordpress-theme-twentytwentythree php-cli php-mysql php-xml mariadb-server-core mariadb-client-core"
)
INSTALL_SECONDS, FILL_SECONDS, QUERY_SECONDS = 60.0, 300.0, 60.0
SETTINGS = """<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', '{url}'); define('WP_SITEURL', '{url}');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {{
    define($name . '_KEY', bin2hex(random_bytes(16))); define($name . '_SALT', bin2hex(random_bytes(16)));
}}
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
FILL = """<?php
error_reporting(0);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
define('WP_INSTALLING', true);
require $argv[1] . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
add_filter('pre_wp_mail', '__return_true');
wp_install('Town blog', 'admin', 'admin@example.org', true, '', bin2hex(random_bytes(16)));
wp_delete_post(1, true);
$users = [];
foreach (json_decode(file_get_contents($argv[2]), true) as $article) {
    $name = $article['author'];
    if (!isset($users[$name])) {
        $login = 'user' . count($users);
        $users[$name] = wp_create_user($login, bin2hex(random_bytes(16)), $login . '@example.org');
        wp_update_user(['ID' => $users[$name], 'display_name' => $name]);
    }
    $id = wp_insert_post(wp_slash(['post_title' => $article['title'], 'post_content' => $article['html'],
        'post_status' => 'publish', 'post_author' => $users[$name], 'post_date' => $article['published'],
        'post_date_gmt' => $article['published']]), true);
    $comments = [];
    foreach ($article['comments'] as $comment) {
        $comments[] = wp_insert_comment(wp_slash(['comment_post_ID' => $id, 'comment_author' => $comment['author'],
            'comment_content' => $comment['text'], 'comment_approved' => 1, 'comment_date' => $comment['published'],
            'comment_date_gmt' => $comment['published'],
            'comment_parent' => $comment['parent'] === null ? 0 : $comments[$comment['parent']]]));
    }
}
"""
POSTS = """
SELECT JSON_OBJECT('id', wp_posts.ID, 'title', post_title, 'author', display_name, 'published', post_date_gmt)
FROM wp_posts JOIN wp_users ON wp_users.ID = post_author WHERE post_type = 'post' AND post_status = 'publish'
ORDER BY wp_posts.ID
"""
COMMENTS = """
SELECT JSON_OBJECT('post', comment_post_ID, 'id', comment_ID, 'author', comment_author, 'text', comment_content,
    'published', comment_date_gmt, 'parent', comment_parent)
FROM wp_comments WHERE comment_approved = '1' ORDER BY comment_ID
"""


class WordPress(Application):
    """A blog of articles, on PHP's built-in server."""

    NAME = "wordpress"
    PAGE = "/?feed=rss2"

    def __init__(self, folder: Path, count: int) -> None:
        programs = ("php", "mariadbd", "mariadb-install-db", "mariadb")
        if not (PROGRAM / "wp-load.php").exists() or not all(map(shutil.which, programs)):
            raise UnavailableError(f"WordPress: Debian's packages aren't all installed: {DEBIAN_PACKAGES}")
        super().__init__(folder, count)
        self._filled = self._program = self.folder / "program"
        self._database = _MariaDB(self.folder)
        self._runs_php(self._program, None, "-d", "error_reporting=0")

    def start(self) -> None:
        """Starts database and blog; otherwise as `Application.start`."""
        self._database.start()
        super().start()

    def stop(self, timeout_s: float = 30.0) -> int | None:
        """Stops blog and database; as `Process.stop`."""
        status = super().stop(timeout_s)
        self._database.stop(timeout_s)
        return status

    def kill(self) -> None:
        """Ends blog and database at once."""
        super().kill()
        self._database.kill()

    def truth(self) -> list[TruePage]:
        """Returns its posts with their comments, as they stand in its database."""
        texts = {article.title: article.text for article in self.articles}
        comments: dict[int, list[Remark]] = {}
        places: dict[int, int] = {}
        for row in self._database.rows(COMMENTS):
            written = comments.setdefault(row["post"], [])
            places[row["id"]] = len(written)
            parent = places.get(row["parent"])
            written.append(Remark(row["author"], _time(row["published"]), row["text"], parent))
        return [
            TruePage(
                f"{self.url}/?p={row['id']}",
                row["title"],
                texts[row["title"]],
                _time(row["published"]),
                author=row["author"],
                comments=tuple(comments.get(row["id"], ())),
            )
            for row in self._database.rows(POSTS)
        ]

    def _fill(self) -> None:
        shutil.copytree(PROGRAM, self._program)
        settings = SETTINGS.format(socket=self._database.socket, url=self.url)
        (self._program / "wp-config.php").write_text(settings)
        self._database.run("CREATE DATABASE wordpress CHARACTER SET utf8mb4")
        (self.folder / "fill.php").write_text(FILL)
        content = self.folder / "articles.json"
        content.write_text(json.dumps([_as_json(article) for article in self.articles]))
        command = ["php", str(self.folder / "fill.php"), str(self._program), str(content)]
        run_to_end("fill", command, self.folder, FILL_SECONDS)


class _MariaDB(Server):
    """A database that listens on a socket in its folder alone."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self.socket = folder / "mariadb.sock"
        options = [f"--datadir={self._data}", f"--socket={self.socket}", "--skip-networking", "--user=root"]
        # No crash is survived, so that nothing waits for the disk.
        options += ["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"]
        super().__init__("mariadb", ["mariadbd", "--no-defaults", *options], folder)

    def start(self) -> None:
        """Starts it and waits until it answers; the first time, makes its tables."""
        if not self._data.exists():
            self._data.mkdir(parents=True)
            options = [f"--datadir={self._data}", "--auth-root-authentication-method=normal", "--skip-test-db"]
            command = ["mariadb-install-db", "--no-defaults", *options]
            run_to_end("mariadb-install", command, self.folder, INSTALL_SECONDS)
        super().start()

    def run(self, statement: str, database: str = "") -> str:
        """Runs a statement; returns its rows, each a line."""
        command = ["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "--batch", "--raw"]
        command += ["--skip-column-names", "--default-character-set=utf8mb4", "--execute", statement, database]
        done = subprocess.run(  # noqa: S603 -- statements are constants
            list(filter(None, command)), capture_output=True, text=True, check=True, timeout=QUERY_SECONDS
        )
        return done.stdout

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Returns the rows of a query, each of which is a JSON object."""
        return [json.loads(line) for line in self.run(query, "wordpress").splitlines()]

    def _answers(self) -> bool:
        return self.socket.is_socket()


def _as_json(article: Article) -> dict[str, Any]:
    return {
        "title": article.title,
        "author": article.author,
        "published": f"{article.published:%Y-%m-%d %H:%M:%S}",
        "html": html_of(article),
        "comments": [
            {**comment._asdict(), "published": f"{comment.published:%Y-%m-%d %H:%M:%S}"} for comment in article.comments
        ],
    }


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
