"""Data files become the numbers that are in them, to the last bit, or are refused in a sentence."""

import bz2
import datetime
import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, save_npz
from sklearn.datasets import dump_svmlight_file

from atomsieve.tables import Category, Reading, Roles, Selection, TableError, closest, plan, read_table

ROWS = "a,b,y\n1,2.5,3\n4,-5e-3,6\n7,8,1\n"


def written(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def samples(path, target="y", reference=False, classes=None, **roles):
    said = Roles(target, **roles)
    table = read_table(path, said.selection())
    reading, notes = plan(table, said, classes=classes, reference=reference)
    return reading.take(table), reading, notes


class TestText:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("data.csv", ROWS),
            ("data.txt", ROWS.replace(",", ";")),
            ("data.tsv", ROWS.replace(",", "\t")),
            ("data.dat", ROWS.replace(",", "|")),
            ("data.csv", "\ufeff" + ROWS),
            ("data.csv", ROWS.replace("\n", "\r\n") + "\r\n"),
            ("data.csv", ROWS.replace("1,", '"1" , ', 1)),
            ("data.csv.gz", gzip.compress(ROWS.encode(), mtime=0)),
            ("data.csv.bz2", bz2.compress(ROWS.encode())),
            ("data.csv", ROWS.replace(",", ";").replace(".", ",")),
        ],
    )
    def test_numbers_in_many_guises(self, tmp_path, name, text):
        found, reading, _ = samples(written(tmp_path, text, name))
        assert reading.features == ("a", "b")
        assert found.X.tolist() == [[1, 2.5], [4, -5e-3], [7, 8]]
        assert found.y.tolist() == [3, 6, 1]

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=20))
    def test_numbers_to_the_last_bit(self, tmp_path_factory, values):
        path = written(tmp_path_factory.mktemp("bits"), "a\n" + "\n".join(map(repr, values)) + "\n")
        assert read_table(path).matrix[:, 0].tobytes() == np.array(values).tobytes()

    def test_features_are_a_view_wherever_the_target_is(self, tmp_path):
        said = Roles("a", weights="b")
        table = read_table(written(tmp_path, "a,x,b,z\n1,2,3,4\n5,6,7,8\n2,2,2,2\n"), said.selection())
        found = plan(table, said, classes=None, reference=False)[0].take(table)
        assert np.shares_memory(found.X, table.matrix)
        assert found.X.tolist() == [[2, 4], [6, 8], [2, 2]]
        assert found.weights.tolist() == [3, 7, 2]

    def test_without_a_header(self, tmp_path):
        found, reading, _ = samples(written(tmp_path, "1,2,3\n4,5,6\n7,8,1\n"), "column3")
        assert reading.features == ("column1", "column2")
        assert len(found) == 3

    def test_a_header_of_numbers_can_be_named(self, tmp_path):
        table = read_table(written(tmp_path, "2001,2002\n1,2\n3,4\n"), header=True)
        assert table.names == ("2001", "2002")
        assert table.rows == 2

    def test_a_column_that_counts_rows_is_left_out(self, tmp_path):
        _, reading, notes = samples(written(tmp_path, ",a,y\n0,2,3\n1,3,4\n2,8,1\n"))
        assert reading.features == ("a",)
        assert "counts the rows" in notes[0]

    def test_constant_columns_are_named(self, tmp_path):
        _, _, notes = samples(written(tmp_path, "a,b,c,y\n1,3,u,3\n1,2,u,4\n1,8,u,1\n"))
        assert notes == ["2 columns with one value in all rows cannot matter: a, c."]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("a,b,y\n", "a header and no rows"),
            ("a,a,y\n1,2,3\n4,5,6\n", "several columns of the same name: a. Rename"),
            (
                "a,b,y\n1,,3\n4,NA,6\n?,8,1\n",
                r"missing values in these columns, of 3 rows: b \(2\), a \(1\)\. .*--exclude b,a",
            ),
            ("a,b,y\n1,nan,3\n4,5,6\n7,8,1\n", r"missing values in these columns, of 3 rows: b \(1\)"),
            ("a,b,y\n1,inf,3\n4,5,6\n7,8,1\n", "infinite numbers in column 'b'"),
            (
                "a,b,y\n1,2,3\n4,oops,6\n7,8,1\n",
                "Column 'b' .* holds numbers, but 'oops' in row 3.*--exclude b.*--categorical b",
            ),
            ("a,b,y\n1,2,3\n4,5\n7,8,1\n", "Row 3 .* has 2 fields, the header has 3"),
            ("a,b,y\n1,x,3\n4,y,6\n7,x,1,5\n", "Row 4 .* has 4 fields, the header has 3"),
            ("a,c,y\n1,,3\n4,x,6\n7,z,1\n", r"missing values .*: c \(1\)"),
            ("a,when,y\n1,2020-01-02,3\n1,2020-01-03,5\n1,2020-01-04,6\n", "'when' .* holds dates"),
            ("a,id,y\n1,bob,3\n1,al,5\n1,eve,6\n", "'id' .* 3 different texts in 3 rows.*--exclude id"),
            ("a,b,y\n1,2,7\n4,5,7\n", "The target 'y' .* is 7.0 in all 2 rows"),
            ("a,b,y\n1,2,no\n4,5,no\n", "The target 'y' .* is 'no' in all 2 rows"),
            ("y\n1\n2\n3\n", "no column but y"),
            ("a,b,why\n1,2,3\n4,5,6\n", r"no column 'y' \(--target\)"),
            (b"a,b,y\n1,2,caf\xe9\n", "not text in UTF-8"),
            ("a,b,y\n1_000,2,3\n4,5,6\n", "1_000"),
        ],
    )
    def test_what_is_wrong_is_said(self, tmp_path, text, message):
        with pytest.raises(TableError, match=message):
            samples(written(tmp_path, text))

    def test_late_mistakes_are_found(self, tmp_path):
        body = "".join(f"{k},{k}\n" for k in range(1000))
        with pytest.raises(TableError, match="'late' in row 1002"):
            read_table(written(tmp_path, "a,y\n" + body + "late,1\n"))
        with pytest.raises(TableError, match=r"a \(1\)"):
            read_table(written(tmp_path, "a,y\n" + body + ",1\n"))

    def test_very_wide_rows(self, tmp_path):
        names = [f"gene{j}" for j in range(20_000)]
        rows = "\n".join(",".join([str(j * k) for j in range(20_000)]) for k in range(3))
        table = read_table(written(tmp_path, ",".join(names) + "\n" + rows + "\n"))
        assert table.names == tuple(names)
        assert table.matrix[2, 19_999] == 39_998

    def test_an_open_quotation_mark(self, tmp_path):
        with pytest.raises(TableError, match="quotation mark"):
            read_table(written(tmp_path, 'a,b\n1,"' + "2,3\n" * 50_000))

    def test_misspelled_columns_are_refused(self, tmp_path):
        path = written(tmp_path, ROWS)
        for selection in (Selection(skip=frozenset({"aa"})), Selection(text=frozenset({"aa"}))):
            with pytest.raises(TableError, match="no column 'aa'"):
                read_table(path, selection)

    def test_columns_left_out_may_hold_anything(self, tmp_path):
        found, _, _ = samples(written(tmp_path, "a,bad,y\n1,,3\n4,x,6\n7,5,1\n"), exclude=("bad",))
        assert found.columns == ("a",)

    @pytest.mark.parametrize("name", ["data.xlsx", "data.pdf", "data.csv.gz"])
    def test_other_files_are_refused(self, tmp_path, name):
        with pytest.raises(TableError, match=r"spreadsheet|no format|decompressed"):
            read_table(written(tmp_path, "PK\x03\x04 rest", name))

    def test_missing_files_have_a_closest_name(self, tmp_path):
        written(tmp_path, ROWS, "patients.csv")
        with pytest.raises(TableError, match=r"There is no file .*patient.csv. Did you mean 'patients.csv'"):
            read_table(str(tmp_path / "patient.csv"))
        with pytest.raises(TableError, match="is a folder"):
            read_table(str(tmp_path))


class TestCategories:
    TEXT = "a,c,y\n" + "1,red,3\n4,blue,6\n7,green,1\n" * 3

    def test_one_feature_per_level(self, tmp_path):
        found, reading, _ = samples(written(tmp_path, self.TEXT))
        assert reading.features == ("a", "c=blue", "c=green", "c=red")
        assert found.X[:3].tolist() == [[1, 0, 0, 1], [4, 1, 0, 0], [7, 0, 1, 0]]

    def test_a_reference_for_groups_and_for_two_levels(self, tmp_path):
        _, reading, notes = samples(written(tmp_path, self.TEXT), reference=True)
        assert reading.categories == (Category("c", ("green", "red"), "blue"),)
        assert "compared with blue" in notes[0]
        _, reading, _ = samples(written(tmp_path, self.TEXT.replace("green", "red")))
        assert reading.features == ("a", "c=red")

    def test_codes_can_be_categories(self, tmp_path):
        _, reading, _ = samples(written(tmp_path, "a,y\n" + "1,3\n2,4\n3,1\n" * 3), categorical=("a",))
        assert reading.features == ("a=1", "a=2", "a=3")

    def test_unknown_levels_are_refused(self, tmp_path):
        _, reading, _ = samples(written(tmp_path, self.TEXT))
        table = read_table(written(tmp_path, self.TEXT.replace("green", "pink"), "new.csv"), reading.selection())
        with pytest.raises(TableError, match="'pink', which the model has not seen: it knows 'blue', 'green', 'red'"):
            reading.take(table)

    @pytest.mark.parametrize(
        ("column", "labels"), [("u,v", ("u", "v")), ("0,1", (0, 1)), ("0.5,1", (0.5, 1.0)), ("1,2,3", None)]
    )
    def test_the_target_decides_what_it_is(self, tmp_path, column, labels):
        values = column.split(",")
        text = "a,y\n" + "".join(f"{k},{values[k % len(values)]}\n" for k in range(12))
        found, reading, _ = samples(written(tmp_path, text))
        assert reading.labels == labels
        assert found.y[: len(values)].tolist() == (list(labels) if labels else [float(v) for v in values])


class TestRecord:
    def test_a_record_reads_another_file_alike(self, tmp_path):
        text = "y;a;c\n3;1,5;red\n6;4;blue\n1;7;green\n" * 1 + "2;1;red\n2;2;blue\n1;1;green\n"
        path = written(tmp_path, text)
        found, reading, _ = samples(path)
        record = tmp_path / "data.json"
        record.write_text(json.dumps(reading.content()))
        again = Reading.load(record)
        assert again == reading
        taken = again.take(read_table(path, again.selection()))
        assert taken.X.tobytes() == found.X.tobytes()
        assert taken.y.tobytes() == found.y.tobytes()

    @pytest.mark.parametrize(
        "text", ["", "{}", "[1]", '{"format": "other", "version": 1}', '{"format": "atomsieve reading"']
    )
    def test_what_is_no_record_is_refused(self, tmp_path, text):
        record = tmp_path / "data.json"
        record.write_text(text)
        with pytest.raises(TableError, match="does not say how the data were read"):
            Reading.load(record)

    def test_columns_that_are_missing_are_named(self, tmp_path):
        reading = Reading(("a", "bmi"), target="y")
        table = read_table(written(tmp_path, "a,BMI,y\n1,2,3\n4,5,6\n"), reading.selection())
        with pytest.raises(TableError, match=r"lacks bmi.*Did you mean 'BMI'"):
            reading.take(table)

    def test_only_what_is_used_is_read(self, tmp_path):
        reading = Reading(("a", "b"), (Category("c", ("u", "v")),), "y")
        used = reading.used(["b"])
        found = used.take(read_table(written(tmp_path, "b,junk\n1,\n2,x\n"), used.selection()))
        assert found["b"].tolist() == [1, 2]


class TestArchives:
    X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.1, 0.0, 0.0], [5.0, 1.0, 0.3]])
    Y = np.array([1.0, 2.0, 3.5, 4.0])

    def test_svmlight_by_its_ending_or_its_look(self, tmp_path):
        for name in ("data.svm", "data.libsvm", "plain"):
            dump_svmlight_file(self.X, self.Y, str(tmp_path / name), zero_based=False)
            found, reading, _ = samples(str(tmp_path / name), None)
            assert reading.features == ("x1", "x2", "x3")
            assert reading.target == "y"
            np.testing.assert_array_equal(found.X.toarray(), self.X)
            np.testing.assert_array_equal(found.y, self.Y)

    def test_svmlight_is_zero_beyond_its_last_feature(self, tmp_path):
        dump_svmlight_file(self.X[:, :2], self.Y, str(tmp_path / "data.svm"), zero_based=False)
        reading = Reading(("x2", "x3"))
        found = reading.take(read_table(str(tmp_path / "data.svm"), reading.selection()))
        np.testing.assert_array_equal(found.X.toarray(), np.column_stack([self.X[:, 1], np.zeros(4)]))

    def test_npz(self, tmp_path):
        np.savez(tmp_path / "data.npz", X=self.X, y=self.Y, names=["a", "b", "c"], weights=np.ones(4))
        found, reading, _ = samples(str(tmp_path / "data.npz"), None, weights="weights")
        assert reading.features == ("a", "b", "c")
        np.testing.assert_array_equal(found.X, self.X)
        assert found.weights.tolist() == [1, 1, 1, 1]

    def test_whole_numbers_beyond_doubles(self, tmp_path):
        for name, large in (("X", {"X": np.full((4, 2), 2**53 + 1)}), ("y", {"y": np.arange(4) + 2**53})):
            np.savez(tmp_path / "data.npz", **{"X": self.X, "y": self.Y} | large)
            with pytest.raises(TableError, match=f"{name} in .* holds the whole number 9007199254740993, which would"):
                read_table(str(tmp_path / "data.npz"))

    def test_sparse_npz_wants_targets(self, tmp_path):
        save_npz(tmp_path / "data.npz", csr_matrix(self.X))
        with pytest.raises(TableError, match=r"Which column .* --target"):
            samples(str(tmp_path / "data.npz"), None)
        with np.load(tmp_path / "data.npz") as parts:
            np.savez(tmp_path / "both.npz", y=self.Y, **parts)
        found, _, _ = samples(str(tmp_path / "both.npz"), None)
        np.testing.assert_array_equal(found.X.toarray(), self.X)

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"A": np.ones(3)}, "must hold X"),
            ({"X": np.ones(3)}, "must be a matrix"),
            ({"X": np.ones((3, 2)), "y": np.ones(2)}, "must be 3 numbers"),
            ({"X": np.full((3, 2), np.nan), "y": np.arange(3)}, "missing values"),
            ({"X": np.ones((3, 2)), "y": np.arange(3), "names": ["a", "a"]}, "2 different names"),
        ],
    )
    def test_other_archives_are_refused(self, tmp_path, arrays, message):
        np.savez(tmp_path / "data.npz", **arrays)
        with pytest.raises(TableError, match=message):
            read_table(str(tmp_path / "data.npz"))

    @pytest.mark.parametrize("name", ["data.npz", "data.parquet", "data.svm"])
    def test_rubbish_is_refused(self, tmp_path, name):
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        with pytest.raises(TableError, match="is no "):
            read_table(written(tmp_path, "rubbish, of course", name))


def test_columns_that_are_no_features_are_refused_together(tmp_path):
    days = [f"2020-01-{k % 28 + 1:02}" for k in range(40)]
    rows = [f"p{k},{k}.5,{days[k]},{k % 3},{days[-k]},q{k}" for k in range(40)]
    path = written(tmp_path, "\n".join(["id,a,in,y,out,name", *rows]))
    with pytest.raises(TableError) as caught:
        samples(path)
    text = str(caught.value)
    assert [text.count(f"Column {name!r}") for name in ("id", "in", "out", "name")] == [1, 1, 1, 0]
    assert text.endswith("All of them at once: --exclude id,in,out,name.")
    assert samples(path, exclude=("id,in,out,name",))[1].features == ("a",)
    with pytest.raises(TableError) as caught:
        samples(path, exclude=("id", "in", "out"))
    assert "at once" not in str(caught.value)


class TestWholeNumbersBeyondDoubles:
    TEXT = "a,t,y\n1.5,7,1\n2,{},2\n3,8,0\n"

    @pytest.mark.parametrize("number", ["9007199254740993", "-9007199254740993", '"+1152921504606846977"'])
    def test_they_are_refused(self, tmp_path, number):
        path = written(tmp_path, self.TEXT.format(number))
        plain = str(int(number.strip('"')))
        with pytest.raises(TableError, match=f"'t' of .* holds the whole number {plain}, .* --exclude t"):
            read_table(path)
        with pytest.raises(TableError, match=r"Subtract a constant, such as the least number\.$"):
            read_table(path, Selection(last=("t",)))
        with pytest.raises(TableError, match=r"Correct it\.$"):
            read_table(path, Selection(only=frozenset("aty")))
        assert read_table(path, Selection(skip=frozenset("t"))).names == ("a", "y")
        assert read_table(path, Selection(text=frozenset("t"))).is_text("t")

    def test_with_decimal_commas(self, tmp_path):
        path = written(tmp_path, "a;t;y\n1,5;7;1\n2,5;9007199254740993;2\n3,5;8;0\n")
        with pytest.raises(TableError, match="holds the whole number 9007199254740993"):
            read_table(path)

    @pytest.mark.parametrize("number", ["9007199254740992", "1152921504606846976", "1.1e300", "9007199254740993.0"])
    def test_others_are_read(self, tmp_path, number):
        table = read_table(written(tmp_path, self.TEXT.format(number)))
        assert table.column("t")[1] == float(number)


class TestParquet:
    @pytest.fixture(autouse=True)
    def _arrow(self):
        self.pa = pytest.importorskip("pyarrow")
        self.parquet = pytest.importorskip("pyarrow.parquet")

    def written(self, folder, **columns):
        path = folder / "data.parquet"
        self.parquet.write_table(self.pa.table(columns), path)
        return str(path)

    def test_numbers_texts_and_truths(self, tmp_path):
        path = self.written(
            tmp_path, y=[0.1, 0.2, 0.3, 0.1], a=[1, 2, 3, 4], t=[True, False, True, True], c=["u", "v", "u", "v"]
        )
        found, reading, _ = samples(path)
        assert reading.features == ("a", "t", "c=v")
        assert found.X.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0], [4, 1, 1]]
        assert found.y.tolist() == [0.1, 0.2, 0.3, 0.1]

    def test_what_is_wrong_is_said(self, tmp_path):
        for column, message in (
            ([1.0, None], r"missing values .* b \(1\)"),
            ([datetime.date(2020, 1, 1)] * 2, "holds dates"),
            ([2**53 + 1, 1], "holds the whole number 9007199254740993, .* leave the column out: --exclude b"),
            ([2**53 + 1, None], r"holds the whole number 9007199254740993"),
            (np.array([2**64 - 1, 1], dtype=np.uint64), "holds the whole number 18446744073709551615"),
            ([[1], [2]], "neither numbers nor text"),
        ):
            with pytest.raises(TableError, match=message):
                read_table(self.written(tmp_path, y=[1.0, 2.0], b=column))

    def test_whole_numbers_that_doubles_hold_are_kept(self, tmp_path):
        found, _, _ = samples(self.written(tmp_path, y=[1.0, 2.0, 3.0], b=[2**60, -(2**63), 2**53 + 2]))
        assert found.X.tolist() == [[2.0**60], [-(2.0**63)], [2.0**53 + 2]]


def test_closest_prefers_a_spelling_and_lists_otherwise():
    assert closest("Diagnosys", ["diagnosis", "age"]) == "Did you mean 'diagnosis'?"
    assert closest("q", [f"x{k}" for k in range(20)]).endswith("x7 and 12 more.")
