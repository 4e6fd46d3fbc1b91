"""The challenges of Kafka, the easiest first: what an adversary can do to it."""

from kafka_spec.model import Constants, State, has_offset, presumes_leadership
from protocol_lab.catalog import package_folder
from protocol_lab.teaching.challenges import Challenge, told_until
from protocol_lab.traces.scenarios import read_scenario


def two_leaders_write(s: State, c: Constants) -> bool:
    """Two replicas believe that they lead, and hold different records at offset 0."""
    return any(
        presumes_leadership(s, replica)
        and presumes_leadership(s, other)
        and has_offset(s.replica_log[replica], 0)
        and has_offset(s.replica_log[other], 0)
        and s.replica_log[replica].records[0] != s.replica_log[other].records[0]
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
    )


NO_BOUNDS = {"max_leader_epoch": None, "max_log_length": None}

CHALLENGES = [
    Challenge(
        "two_leaders_write",
        "Let two leaders write",
        "KIP-320 is the variant that holds. Make two of its replicas believe that they lead, each"
        " with a record of its own at offset 0. That is allowed: leader epochs are not there to"
        " prevent it, but to make it harmless.",
        spec="kafka.kip_320",
        constants={"replicas": 2},
        reach=two_leaders_write,
        hints=[
            "The controller decides, and a replica learns of it by picking a request. What does a"
            " leader do that has not picked the latest one?",
            "Who leads goes on writing until it hears that it is deposed. Nobody has to tell it.",
        ],
    ),
    Challenge(
        "one_copy_is_enough",
        "Lose what one replica promised",
        "With min.insync.replicas at 1 a leader that is alone in its ISR commits by itself. Lose a"
        " committed message, although the alive replica with the latest offset is elected.",
        spec="kafka.unclean_leader_election",
        constants={"min_isr": 1, **NO_BOUNDS},
        breaks="committed_messages_never_lost",
        hints=[
            "A message is committed when all of the ISR hold it. How small can the ISR become?",
            "A follower that lags can be dropped, and so can the next one. What is committed when"
            " the leader is alone?",
        ],
    ),
    Challenge(
        "finish_the_story",
        "Finish the talk's story",
        "Slide 50 of the talk: nothing is lost yet. Broker 3 leads, broker 2 has copied its"
        " message, and broker 1 still holds an older one at the same offset. Go on from here and"
        " lose a committed message.",
        spec="kafka.unclean_leader_election",
        constants=NO_BOUNDS,
        breaks="committed_messages_never_lost",
        given=told_until(
            read_scenario(package_folder("kafka") / "scenarios" / "talk_46_56_found_scenario.txt"),
            50,
        ),
        hints=[
            "Which of both messages at that offset is of the later epoch? Would you rather have"
            " the other one committed?",
            "The message of epoch 0 is committed as soon as all of the ISR hold it. Who has to"
            " lead for that, and who has to copy it?",
            "The rule compares the last messages of those who are alive, and looks only when"
            " nobody of the ISR is. So the ISR must be down to one replica, which dies.",
        ],
    ),
    Challenge(
        "truncate_a_committed_record",
        "Make a follower cut off what is committed",
        "KIP-101: a new follower asks its leader where its last epoch ends. Two replicas are enough"
        " to get a wrong answer. Bring one to drop a record that it was counted for.",
        spec="kafka.kip_101",
        constants={"replicas": 2},
        breaks="weak_isr",
        hints=[
            "The leader answers from its own log. What does it say about an epoch of which it has"
            " no record, and no record of a later one?",
            "The follower then falls back to its high watermark. It must be lower than what the"
            " leader has committed: when does a follower learn of the high watermark?",
            "So the follower needs a record of its own, of an epoch in which it led and the other"
            " did not follow. Two elections, one right after the other, give it that.",
        ],
    ),
    Challenge(
        "nobody_fails",
        "Lose a record although no broker fails",
        "Before KIP-101 a new follower truncates to its high watermark. The controller may move the"
        " leadership, but never finds a broker gone. Make a member of the controller's ISR lack a"
        " committed record: the next clean election may lose it. A new epoch of the same leader"
        " truncates nothing, as in Kafka up to 2.0.0.",
        spec="kafka.truncate_to_high_watermark",
        constants={"replicas": 2, "same_leader": "keeps_log"},
        breaks="strong_isr",
        forbidden=["controller_shrink_isr"],
        hints=[
            "A replica truncates when it follows another leader than before. How does a follower of"
            " broker 1 come to follow broker 1 anew?",
            "The follower has copied the record, the leader has committed it for that reason, and"
            " the follower has not heard of it. It leads for a moment, and follows again.",
            "Requests stay until they are picked: let the controller decide three times before"
            " anybody listens.",
        ],
    ),
    Challenge(
        "outwit_the_first_try",
        "Outwit the first try at KIP-320",
        "The first try compares the epochs of records instead of those of replicas. Make a"
        " member of the controller's ISR lack a record that a leader calls committed.",
        spec="kafka.kip_320_first_try",
        constants={"log_size": 1, "max_records": 1},
        breaks="strong_isr",
        hints=[
            "A replica picks requests in any order, and never goes back. Whom can a leader count as"
            " its follower that is not in its epoch?",
            "Let the same replica lead twice, with another one chosen in between. A follower that"
            " has heard of the first time only still follows it.",
            "Once the record is committed, the follower meets the request in between: it makes it"
            " the follower of a replica without the record.",
        ],
    ),
    Challenge(
        "lead_by_an_overruled_decision",
        "Lead by a decision that was overruled",
        "The first try at KIP-320 once more, and another promise: whomever a leader counts as in"
        " sync holds all that this leader calls committed. Break it with a replica that begins to"
        " lead when it should not any more.",
        spec="kafka.kip_320_first_try",
        constants={"log_size": 1, "max_records": 1},
        breaks="weak_isr",
        hints=[
            "A request that was overruled is still there to be picked, by the replica that it makes"
            " the leader too. With which ISR would that replica begin?",
            "A replica brings its high watermark along when it begins to lead. From whom can it"
            " have learned that a record is committed, if not all of that ISR hold it?",
            "Let the leader of the latest decision drop the others from its ISR and commit alone."
            " One of them fetches from it, in an older epoch, and then picks the decision in"
            " between.",
        ],
    ),
    Challenge(
        "lose_a_committed_message",
        "Lose a committed message",
        "The talk's question: nobody of the ISR is alive, and the alive replica with the latest"
        " offset is elected. min.insync.replicas is 2. Lose a committed message all the same.",
        spec="kafka.unclean_leader_election",
        constants=NO_BOUNDS,
        breaks="committed_messages_never_lost",
        hints=[
            "The rule looks at epochs first. So the wrong replica must hold a message of a later"
            " epoch than the committed one, at the same offset or before.",
            "A message can be of a later epoch and never be committed: its leader was deposed"
            " before all of the ISR had it. Who leads next must not have it.",
            "swap_preferred_leader and preferred_leader_election move the leadership while"
            " everybody is alive: to another replica, which writes, and back again.",
            "The replica that is finally elected is out of the ISR from the beginning. In"
            " between it copies the message of the later epoch, and is then too slow to drop it.",
        ],
    ),
    Challenge(
        "lose_it_on_4_1",
        "Lose it on 4.1, if you can",
        "Kafka 4.1 with ELR on and unclean elections off. One broker may be stopped with its log,"
        " cleanly or not, and one may lose it. Lose an acknowledged record from both replicas.",
        spec="kafka.kip_966",
        constants={
            "no_data_loss_shutdown_limit": 1,
            "elr_without_isr": True,
            "last_known_leader": True,
            "max_messages_in_flight": 1,
        },
        breaks="no_committed_record_lost_globally",
        hints=[
            "Who is elected when ISR and ELR are both empty? How does a broker leave the ELR?",
            "Both brokers have to register without a clean-shutdown file. Which one should come"
            " back with its log, and which one leads last?",
            "Kill broker 1, and then lose the log of broker 2, which leads. Neither is eligible"
            " when it is back, and the last known leader is elected.",
        ],
    ),
]
