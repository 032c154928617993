"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

DATA, MODEL, STRENGTH, OUTPUT = "Data", "Model", "Strength of the penalty", "Output"

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A file of samples: .csv, .tsv, .parquet, .svm (svmlight) or .npz (X and y); text also as .gz, .bz2, .xz.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to explain. Formats that keep targets apart (svmlight, npz) need none.",
        rich_help_panel=DATA,
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column that is added to the linear predictions as it is. For an exposure take --exposure.",
        rich_help_panel=DATA,
    ),
]
Exposure = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="For counts: a column of times, people or areas at risk, all positive. Its logarithm is the offset.",
        rich_help_panel=DATA,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column of sample weights: 2 means the row twice.", rich_help_panel=DATA),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Columns to leave out, with commas between them. May be repeated.", rich_help_panel=DATA
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Columns of codes in numbers, with commas between them: one feature per value. Text needs no mention.",
        rich_help_panel=DATA,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        help="What separates columns in a text file: comma, semicolon, tab, bar, space, or a sign. Found by itself.",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row names the columns. Found by itself; without names they are column1, column2, ...",
        rich_help_panel=DATA,
    ),
]
LossWord = Annotated[
    str,
    typer.Option(
        metavar="LOSS",
        help="How far predictions are off: squared or huber for numbers, poisson for counts, logistic, squared-hinge "
        "or multinomial for classes. auto is logistic for labels and for two values, squared for other numbers.",
        rich_help_panel=MODEL,
    ),
]
GaugeWord = Annotated[
    str,
    typer.Option(
        metavar="GAUGE",
        help="What is kept small: l1 (coefficients), nonnegative (the same, none below zero) or group (whole groups).",
        rich_help_panel=MODEL,
    ),
]
PenaltyWord = Annotated[
    str,
    typer.Option(
        metavar="PENALTY",
        help="How the size of the coefficients is charged: linear (the Lasso), square, power, ball (a limit of the "
        "size) or log-barrier.",
        rich_help_panel=MODEL,
    ),
]
Groups = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Groups of columns, for --gauge group: a CSV file of lines column,group, or JSON. Others stay single.",
        rich_help_panel=MODEL,
    ),
]
Unpenalized = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Columns that are always in the model, with commas between them. May be repeated.",
        rich_help_panel=MODEL,
    ),
]
Lower = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIMIT",
        help="No coefficient below a number, or COLUMN=NUMBER for one column; in the units of the file. May be "
        "repeated. For --gauge l1 and nonnegative.",
        rich_help_panel=MODEL,
    ),
]
Upper = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIMIT",
        help="No coefficient above a number, or COLUMN=NUMBER for one column. May be repeated.",
        rich_help_panel=MODEL,
    ),
]
Ridge = Annotated[
    float,
    typer.Option(
        metavar="NUMBER",
        help="Add this times half the squared coefficients, as the elastic net does: twins then share their weight.",
        rich_help_panel=MODEL,
    ),
]
Standardize = Annotated[
    bool,
    typer.Option(
        help="Charge coefficients as if all features had the same spread. They are reported in their own units.",
        rich_help_panel=MODEL,
    ),
]
Delta = Annotated[
    float,
    typer.Option(metavar="NUMBER", help="Errors beyond this count linearly, for --loss huber.", rich_help_panel=MODEL),
]
Exponent = Annotated[
    float, typer.Option(metavar="NUMBER", help="The exponent, for --penalty power.", rich_help_panel=MODEL)
]
Strength = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="The strength itself: the Lasso's alpha for linear, the radius for ball and log-barrier.",
        rich_help_panel=STRENGTH,
    ),
]
Fraction = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="The strength as a part of the one at which all coefficients are zero, such as 0.1.",
        rich_help_panel=STRENGTH,
    ),
]
Features = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="The strength that leaves K features in the model, or as many below K as can be.",
        rich_help_panel=STRENGTH,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        metavar="K",
        help="The strength by cross-validation with K folds. This is the default, with 5.",
        rich_help_panel=STRENGTH,
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Which model of the cross-validation: 1se (the strongest penalty within one standard error of the "
        "best; the default) or min (the best).",
        rich_help_panel=STRENGTH,
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", help="The seed by which rows are shuffled into folds.", rich_help_panel=STRENGTH)
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Seconds for fit and proofs together. The best model so far is kept; one proof of it is made in any case.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Write one JSON object, and nothing else, to standard output.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.", rich_help_panel=OUTPUT)]
