"""The table of contents: every command, in the order and under the heading in which `neomodel --help` lists it."""

from typing import Annotated

import typer
from typer.main import get_command

from neomodel import __version__
from neomodel.cli import (
    anna,
    anna_runs,
    backup,
    check,
    cluster,
    dead_letters,
    diff_load,
    doctor,
    elsa,
    exporting,
    importing,
    models,
    show,
    stats,
    sync,
    transforming,
)
from neomodel.cli.frame import Commands, StoreBefore, as_usual

app = typer.Typer(
    help="Keep models that are too large for memory in a store, look at them and bring them out again.",
    epilog="`neomodel COMMAND --help` explains a command.\nExample:\n$ neomodel show --help",
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"neomodel {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    store: StoreBefore = "",  # noqa: ARG001  the commands' own --store looks it up
    version: Annotated[  # noqa: ARG001  done by its callback
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help(), end="")


_commands = Commands(app)

_INTO_AND_OUT = "Models: in and out"
_commands.add(
    importing.import_,
    "neomodel import jdt.xmi --metamodel java.ecore --model jdt",
    "neomodel import a.xmi b.xmi --metamodel java.ecore --model jdt",
    "neomodel import strange.xmi --model strange --lenient",
    name="import",
    panel=_INTO_AND_OUT,
)
_commands.add(
    exporting.export,
    "neomodel export jdt jdt.xmi",
    "neomodel export jdt jdt.zxmi --as-of 2024-05-01T12:00:00+02:00",
    "neomodel export jdt - --ids | xmllint --format -",
    "neomodel export jdt jdt.json",
    panel=_INTO_AND_OUT,
)

_commands.add(
    transforming.transform,
    "neomodel transform metamodels.transformations.java2classes:java2classes jdt diagram",
    "neomodel transform rules:persons families persons --engine spark",
    "neomodel transform rules:persons families persons --incremental",
    "neomodel transform rules:persons families persons --json | jq .applications",
    panel=_INTO_AND_OUT,
)

_LOOK = "Models: look and look after"
_commands.add(models.models, "neomodel models", "neomodel models --json --store lmdb:/data/models.db", panel=_LOOK)
_commands.add(stats.stats, "neomodel stats jdt", "neomodel stats jdt --json", panel=_LOOK)
_commands.add(
    show.show,
    "neomodel show jdt",
    "neomodel show jdt --limit 100",
    "neomodel show jdt 3fa9cjvlda49rkkj7000001 --depth 1",
    "neomodel show jdt --as-of 2024-05-01T12:00:00+02:00",
    "neomodel show jdt --json | jq '.objects[].id'",
    panel=_LOOK,
)
_commands.add(
    check.check,
    "neomodel check jdt",
    "neomodel check jdt --repair --patience 10",
    "neomodel check jdt --json | jq '.findings[].kind'",
    panel=_LOOK,
)
_commands.add(models.drop, "neomodel drop jdt", "neomodel drop jdt --yes", panel=_LOOK)

_BACKUPS = "Models: backups"
_commands.add(
    backup.backup,
    "neomodel backup /backups/jdt jdt",
    "neomodel backup /backups/elsa elsa --since last",
    "neomodel backup /backups/everything --engine local",
    panel=_BACKUPS,
)
_commands.add(
    backup.restore,
    "neomodel restore /backups/elsa --store lmdb:again.db",
    "neomodel restore /backups/elsa --number 3",
    panel=_BACKUPS,
)
_commands.add(backup.verify, "neomodel verify /backups/elsa", "neomodel verify /backups/elsa --json", panel=_BACKUPS)

_METAMODELS = "Metamodels"
_commands.add(
    models.register,
    "neomodel register java.ecore",
    "neomodel register base.ecore java.ecore --strict",
    panel=_METAMODELS,
)
_commands.add(models.metamodels, "neomodel metamodels", "neomodel metamodels --json", panel=_METAMODELS)

_commands.add(
    doctor.doctor,
    "neomodel doctor",
    "neomodel doctor --store hbase://127.0.0.1:9090?thrift2=9091",
    "neomodel doctor --json | jq '.[] | select(.state == \"wrong\")'",
    panel="This installation",
)

_elsa = typer.Typer(
    help="ELSA: external systems, mirrored with all that was ever known of them.",
    rich_markup_mode="rich",
)
app.add_typer(_elsa, name="elsa", rich_help_panel="External systems", epilog="Example:\n$ neomodel elsa stats")
_elsa_commands = Commands(_elsa)
_elsa_commands.add(
    elsa.get,
    "neomodel elsa get crm customer-7",
    "neomodel elsa get crm customer-7 --event 2024-05-01T00:00:00Z --ingest 2024-06-01T00:00:00Z",
    "neomodel elsa get crm customer-7 --json | jq .token",
)
_elsa_commands.add(elsa.history, "neomodel elsa history crm customer-7")
_elsa_commands.add(elsa.load, "neomodel elsa load crm history.csv", "neomodel elsa load crm history.jsonl")
_elsa_commands.add(elsa.stats, "neomodel elsa stats", "neomodel elsa stats crm --json")
_elsa_commands.add(
    elsa.timeline,
    "neomodel elsa timeline crm customer-7 --out customer-7.svg",
    "neomodel elsa timeline crm x --event 15 --ingest 35 --out x.svg",
)
_elsa_commands.add(
    sync.sync,
    "neomodel elsa sync --system crm --from /data/crm-queue",
    "neomodel elsa sync --system crm --from /data/crm-queue --once --format debezium",
    "neomodel elsa sync --system crm --from /data/crm-queue --rate 5000 --metrics /var/lib/node_exporter/crm.prom",
    "neomodel elsa sync --system crm --from kafka://broker:9092/customers --checkpoint /var/lib/neomodel/crm",
)
_elsa_commands.add(
    dead_letters.dead_letters,
    "neomodel elsa dead-letters crm",
    "neomodel elsa dead-letters crm --replay",
    "neomodel elsa dead-letters crm --out bad.jsonl; vi bad.jsonl; neomodel elsa dead-letters crm --with bad.jsonl",
    name="dead-letters",
)
_elsa_commands.add(
    diff_load.diff_load,
    "neomodel elsa diff-load --system hr may.csv --before april.csv --key number --event 2024-05-01T00:00:00Z",
    "neomodel elsa diff-load --system hr april.parquet --key country,number --event 2024-04-01T00:00:00Z",
    name="diff-load",
)

_anna = typer.Typer(
    help="ANNA: data products, computed again whenever asked for, with all manual corrections.",
    rich_markup_mode="rich",
)
app.add_typer(
    _anna, name="anna", rich_help_panel="Data products", epilog="Example:\n$ neomodel anna fix 'income report'"
)
_anna_commands = Commands(_anna)
_anna_commands.add(
    anna_runs.run,
    "neomodel anna run products:sales --store lmdb:models.db",
    "neomodel anna run products:sales --token AbC --actions-ingest 2024-05-01T12:00:00Z",
    "neomodel anna run products:sales --run 7",
)
_anna_commands.add(
    anna_runs.recompute,
    "neomodel anna recompute products:sales 7",
    "neomodel anna recompute products:sales 7 --ingest crm=stable",
)
_anna_commands.add(
    anna_runs.diff,
    "neomodel anna diff products:sales 7 8",
    "neomodel anna diff products:sales 7 8 --html diff.html",
    "neomodel anna diff products:sales 7 8 --json | jq '.steps[].counts'",
)
_anna_commands.add(
    anna_runs.report, "neomodel anna report 'income report'", "neomodel anna report sales 7 --html report.html"
)
_anna_commands.add(anna_runs.runs, "neomodel anna runs", "neomodel anna runs sales --json")
_anna_commands.add(anna.fix, "neomodel anna fix 'income report'", "neomodel anna fix 'income report' --step boss")
_anna_commands.add(
    anna.act,
    "neomodel anna act 'income report' --step boss --row 42 --column income --operation multiply --value 10 "
    "--precondition 'income < 1000' --why 'too low by ten'",
)
_anna_commands.add(anna.load, "neomodel anna load 'income report' actions.csv")
_anna_commands.add(
    anna.actions, "neomodel anna actions 'income report'", "neomodel anna actions 'income report' --json"
)
_anna_commands.add(anna.retract, "neomodel anna retract 'income report' 3fa9c1e07b5d2a68 --why 'it was right'")

_cluster = typer.Typer(
    help="A local HBase, for development and tests. Whoever uses this machine can read and write what is in it.",
    rich_markup_mode="rich",
)
app.add_typer(_cluster, name="cluster", rich_help_panel="Cluster", epilog="Example:\n$ neomodel cluster up")
_cluster_commands = Commands(_cluster)
_cluster_commands.add(
    cluster.up,
    "neomodel cluster up",
    "neomodel cluster up --servers 3 --folder three",
    'export NEOMODEL_STORE="$(neomodel cluster up)"',
)
_cluster_commands.add(cluster.down, "neomodel cluster down")
_cluster_commands.add(cluster.status, "neomodel cluster status", "neomodel cluster status --json")
_cluster_commands.add(cluster.url, "neomodel cluster url", 'export NEOMODEL_STORE="$(neomodel cluster url)"')

command = get_command(app)
as_usual(command)
