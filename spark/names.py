"""Names of columns, as Spark takes them for names and nothing else, whatever dots, blanks and quotes they have."""


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
