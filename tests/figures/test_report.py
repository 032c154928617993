"""The report says what the sections say, counts the verdicts, and needs no file beside it."""

import re

import numpy as np
import pandas as pd
import pytest

from atomsieve.paper.experiment import Finding, Section
from atomsieve.paper.report import Report, figure, table

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


@pytest.fixture
def written(tmp_path):
    (tmp_path / "pixel.png").write_bytes(PIXEL)
    sections = [
        Section("First", "Words & <signs>.\n\n" + figure("pixel.png", "**Figure 1.** A finding.")),
        Section("Second", "More."),
    ]
    verdicts = [
        Finding("It is so.", "Theorem 1", "1 | 2", np.True_),
        Finding("It is not.", "Lemma 2", "3", False),
        Finding("Who knows.", "Remark", "4", None),
    ]
    Report("A title", "To begin with.", sections, verdicts).write(tmp_path)
    return tmp_path


def test_markdown(written):
    text = (written / "report.md").read_text()
    assert text.startswith("# A title\n\nTo begin with.\n\n## First\n")
    assert "![pixel](pixel.png)\n\n**Figure 1.** A finding." in text
    assert "Of 3 claims, some tested on several data: 1 hold, 1 fail, 1 cannot be told." in text
    assert "| It is so. | Theorem 1 | 1 \\| 2 | holds |" in text
    assert "| It is not. | Lemma 2 | 3 | **fails** |" in text


def test_the_page_is_one_file(written):
    page = (written / "report.html").read_text()
    assert re.findall(r'src="([^"]{0,30})', page) == ["data:image/png;base64,iVBORw0K"]
    assert not re.search(r'(href|src)="http', page)
    assert page.count("<h2>") == 3
    assert "Words &amp; &lt;signs&gt;." in page
    assert "<td><strong>fails</strong></td>" in page
    assert "<td>1 | 2</td>" in page


def test_a_report_without_verdicts_has_no_table(tmp_path):
    assert "verdict" not in Report("T", "O", [Section("S", "text")], []).markdown()


def test_tables_stand_under_their_caption():
    assert table(pd.DataFrame({"a": [1]}), "Words.") == "Words.\n\n| a |\n|---|\n| 1 |"
