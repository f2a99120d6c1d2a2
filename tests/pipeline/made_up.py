"""Small made-up tables with the columns that PETsARD's demo files name."""

from pathlib import Path

import numpy as np
import polars as pl

WORDS = {
    "workclass": ["Private", "State-gov", "?"],
    "education": ["HS-grad", "Bachelors", "Masters", "Doctorate"],
    "marital-status": ["Never-married", "Divorced"],
    "occupation": ["Sales", "Craft-repair", "?"],
    "relationship": ["Husband", "Not-in-family"],
    "race": ["White", "Black"],
    "gender": ["Male", "Female"],
    "native-country": ["United-States", "Mexico", "?"],
    "income": ["<=50K", ">50K"],
}


def adult(n: int = 240, seed: int = 1) -> pl.DataFrame:
    """Return a table with the columns of adult-income, in its order."""
    rng = np.random.default_rng(seed)
    words = {name: rng.choice(each, n) for name, each in WORDS.items()}
    numbers = {
        "age": rng.integers(17, 80, n),
        "fnlwgt": rng.integers(12_000, 60_000, n),
        "educational-num": rng.integers(1, 17, n),
        "capital-gain": rng.choice([0, 0, 0, 7298], n),
        "capital-loss": rng.choice([0, 0, 1902], n),
        "hours-per-week": rng.integers(15, 65, n),
    }
    columns = {**words, **numbers}
    order = (
        "age workclass fnlwgt education educational-num marital-status occupation relationship race gender "
        "capital-gain capital-loss hours-per-week native-country income"
    )
    return pl.DataFrame({name: columns[name] for name in order.split()})


def companies(n: int = 120, seed: int = 2) -> pl.DataFrame:
    """Return a table of companies and their applications, one row each; some cells are missing."""
    rng = np.random.default_rng(seed)
    founded = np.datetime64("2005-01-01") + rng.integers(0, 4000, n)
    applied = founded + rng.integers(30, 900, n)
    approved = rng.random(n) < 0.7
    return pl.DataFrame(
        {
            "company_id": [f"C{i:06d}" for i in range(n)],
            "industry": rng.choice(["營建工程", "製造業", "批發零售"], n),
            "city": rng.choice(["新北市", "臺北市", "桃園市"], n),
            "established_date": founded,
            "apply_date": applied,
            "approval_date": np.where(approved, applied + 40, np.datetime64("NaT")),
            "tracking_date_last_tracking_date": np.where(approved, applied + 400, np.datetime64("NaT")),
            "amount_requested": rng.integers(1, 30, n) * 100_000,
        }
    )


def students(n: int = 150, seed: int = 3) -> pl.DataFrame:
    """Return a table of students with codes beside their names."""
    rng = np.random.default_rng(seed)
    university, kind = rng.integers(0, 3, n), rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "birth_year": rng.integers(1990, 2008, n),
            "birth_month": rng.integers(1, 13, n),
            "birth_day": rng.integers(1, 29, n),
            "zodiac": rng.choice(["鼠", "牛", "虎"], n),
            "university_code": np.array(["001", "002", "003"])[university],
            "university": np.array(["國立臺灣大學", "國立政治大學", "國立清華大學"])[university],
            "college_code": np.array(["001100", "002100", "003100"])[university],
            "college": np.array(["理學院", "文學院", "工學院"])[university],
            "department_code": np.array(["001110", "002110", "003110"])[university],
            "department_name": np.array(["數學系", "中文系", "資工系"])[university],
            "admission_type_code": np.array(["1", "2"])[kind],
            "admission_type": np.array(["繁星推薦", "運動績優"])[kind],
            "disabled_code": rng.choice(["0", "1"], n),
            "disabled_type": rng.choice(["無", "視覺障礙"], n),
            "nationality_code": rng.choice(["TW", "US"], n),
            "nationality": rng.choice(["中華民國", "美國"], n),
            "identity_code": rng.choice(["1", "2"], n),
            "identity": rng.choice(["一般生", "僑生"], n),
            "sex": rng.choice(["男", "女"], n),
        }
    )


def lay_out(folder: Path) -> None:
    """Put all tables where the demo files look for them."""
    (folder / "benchmark").mkdir()
    people = adult(300)
    people.write_csv(folder / "benchmark/adult-income.csv")
    people[:200].write_csv(folder / "benchmark/adult-income_ori.csv")
    people[200:].write_csv(folder / "benchmark/adult-income_control.csv")
    adult(260, seed=9).write_csv(folder / "benchmark/adult-income_syn.csv")
    companies().write_csv(folder / "best-practices_multi-table.csv")
    students().write_csv(folder / "benchmark/best-practices_categorical_high-cardinality.csv")
    (folder / "benchmark/adult-income_schema.yaml").write_text(
        "schema_id: adult\nfields:\n  age: {type: int}\n  gender: {type: str, category_method: force}\n",
        encoding="utf-8",
    )
