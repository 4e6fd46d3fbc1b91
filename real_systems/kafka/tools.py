"""An operator's commands: the scripts that come with a release, run by the classes behind them.

What is shown names nodes and folders as a cluster would: broker2:9092 and /kafka/data2 stand for a
port of the loopback interface and the folder of the run.
"""

import re
import zipfile
from pathlib import Path

from protocol_lab.errors import LabError
from real_systems.kafka.cluster import Cluster
from real_systems.runner.jars import Artifact, fetched_jars, java_command

_CLASSES = {
    "kafka-topics.sh": "TopicCommand",
    "kafka-leader-election.sh": "LeaderElectionCommand",
    "kafka-dump-log.sh": "DumpLogSegments",
    "kafka-features.sh": "FeatureCommand",
}
_PACKAGES = "org.apache.kafka.tools", "kafka.admin", "kafka.tools"
"""Where they are, the newest first: most tools moved to it between 3.5 and 4.3."""

_PATIENCE = 180
"""Seconds that a command has."""


class Tools:
    """The commands of the release that a cluster runs."""

    def __init__(self, cluster: Cluster):
        self.cluster, self._runs = cluster, 0
        self.jars = list(cluster.jars)
        if not any("kafka-tools-" in each.name for each in self.jars if "-api-" not in each.name):
            tools = Artifact("org.apache.kafka", "kafka-tools", cluster.release)
            # A folder named kafka-... would be taken for a release by what reads segments.
            more = fetched_jars(f"tools-of-kafka-{cluster.release}", [tools], cluster.say)
            known = {each.name for each in self.jars}
            self.jars += [each for each in more if each.name not in known]

    def run(self, line: str) -> str:
        """What a command line prints. Raises DidNotHappen if it does not end.

        It is a script with its words, in the names that are shown, or `ls`. Behind "| grep" may
        stand a word: only lines that have it are returned.
        """
        command, _, wanted = line.partition(" | grep ")
        script, *words = self._real(command).split()
        self._runs += 1
        name = f"tool{self._runs}"
        log = self.cluster.folder / name / "output.txt"
        if script in _CLASSES:
            options = self.cluster.logging(name)
            words = java_command(self.jars, self._class_of(script), *words, options=options)
        else:
            words = [script, *words]
        said = self.cluster.processes.run(name, words, log, line, _PATIENCE)
        lines = self._shown(said).splitlines()
        return "\n".join(each.rstrip() for each in lines if wanted in each)

    def _class_of(self, script: str) -> str:
        for package in _PACKAGES:
            name = f"{package}.{_CLASSES[script]}"
            if any(_has_class(jar, name) for jar in self.jars):
                return name
        raise LabError(f"Kafka {self.cluster.release} has no {script} that the kit knows.")

    def _real(self, line: str) -> str:
        """A line that is shown, with the ports and folders of this run."""

        def address(found: re.Match) -> str:
            return f"127.0.0.1:{self.cluster.port(int(found[1]))}"

        line = re.sub(r"\b(?:broker|controller)(\d+):909\d", address, line)
        return line.replace("/kafka/", f"{self.cluster.folder}/")

    def _shown(self, text: str) -> str:
        for node, port in self.cluster.ports.items():
            kind = "broker" if node in self.cluster.brokers else "controller"
            shown = f"{kind}{node}:{9092 if kind == 'broker' else 9093}"
            text = re.sub(rf"(?:127\.0\.0\.1|localhost):{port}\b", shown, text)
        return text.replace(f"{self.cluster.folder}/", "/kafka/")


def _has_class(jar: Path, name: str) -> bool:
    with zipfile.ZipFile(jar) as entries:
        return name.replace(".", "/") + ".class" in entries.NameToInfo
