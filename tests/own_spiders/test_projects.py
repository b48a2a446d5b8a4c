"""Where Headroom's commands find no project of theirs, or another package of its name, they say so."""

from __future__ import annotations

import pytest

OURS = ("doctor", "items", "ledger", "nodes", "plan", "seeds", "site")


@pytest.fixture
def shadowed(projects, tmp_path):
    """A folder whose own package is called `crawler`."""
    package = tmp_path / "crawler"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('nothing of this package may be executed')\n")
    project = projects["bare"]
    elsewhere = type(project)(tmp_path, "crawler.spiders")
    elsewhere.environment = project.environment
    return elsewhere


def test_the_add_on_brings_its_commands(projects, run):
    status, output, _ = run(projects["with the add-on"], ["plan", "-h"])
    assert status == 0
    assert "submit FILE" in output


@pytest.mark.parametrize("command", OURS)
def test_a_project_without_the_add_on_is_refused(projects, run, command):
    answer = run(projects["bare"], [command])
    expected = 'error: the settings of this project (shop.settings) don\'t say ADDONS = {"crawler.Headroom": 100}\n'
    assert answer == (1, "", expected)


@pytest.mark.faults  # each command is a process
def test_outside_of_a_project_there_is_nothing_to_act_on(projects, tmp_path):
    outside = type(projects["bare"])(tmp_path, "")
    outside.environment = projects["bare"].environment
    done = outside.run("ledger")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no Scrapy project here; scrapy ledger runs in one whose settings say ADDONS")
    done = outside.run("crawl", "consumer")
    assert done.returncode == 2
    assert "runs a spider of a project" in done.stderr


@pytest.mark.faults  # each command is a process
def test_another_package_of_the_same_name_is_named(shadowed):
    path = f"{shadowed.folder}:{shadowed.environment['PYTHONPATH']}"
    done = shadowed.run("plan", "list", environment={"PYTHONPATH": path})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the package `crawler` at {shadowed.folder}/crawler shadows Headroom's")
    assert shadowed.run("version", environment={"PYTHONPATH": path}).returncode == 0


def test_a_project_that_headroom_would_hide_is_told(shadowed):
    (shadowed.folder / "scrapy.cfg").write_text("[settings]\ndefault = crawler.settings\n")
    (shadowed.folder / "crawler" / "settings.py").touch()
    done = shadowed.run("list", python=["-P"])  # as the program `scrapy`, which doesn't look into the folder first
    assert done.returncode == 1
    assert done.stderr == (
        f"error: Headroom's package `crawler` hides this project's at {shadowed.folder}/crawler; "
        "rename that one, or install Headroom in an environment of its own\n"
    )


def test_a_clone_that_an_installed_copy_would_hide_is_told_how_to_be_run(shadowed):
    (shadowed.folder / "scrapy.cfg").write_text("[settings]\ndefault = crawler.settings\n")
    for name in ("settings.py", "scrapy_private.py"):
        (shadowed.folder / "crawler" / name).touch()
    done = shadowed.run("list", python=["-P"])
    assert done.returncode == 1
    assert done.stderr.startswith("error: Headroom is installed at ")
    assert f"hides the one in this clone, {shadowed.folder}/crawler; " in done.stderr
    assert done.stderr.endswith("pip install --no-deps -e .\n")
