"""The challenges of Kafka, the easiest first: what an adversary can do to it."""

from kafka_spec.exercises.async_isr import careless
from kafka_spec.model import Constants, State, has_offset, presumes_leadership
from kafka_spec.unclean_leader_election import common_prefix, log_of
from protocol_lab import NONE
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


def is_crossed(s, c) -> bool:
    """Does broker 1 hold the records A, B, and broker 2 the records B, A?"""
    one, two = s.logs[1].records, s.logs[2].records
    return (one[0], one[1], two[0], two[1]) == (1, 2, 2, 1)


def is_committed_by_a_zombie(s: State, c: Constants) -> bool:
    """Has a deposed leader that does not know it, with two in its ISR, committed a record?"""
    return any(
        presumes_leadership(s, leader)
        and s.quorum_state.leader != leader
        and s.replica_state[leader].hw > 0
        and len(s.replica_state[leader].isr) == 2
        for leader in range(1, c.replicas + 1)
    )


def the_latest_offset_has_it(s, c) -> bool:
    """After the unstable replica's death somebody leads who has all that was committed."""
    leader, committed = s.zk_state.leader, s.committed_messages
    return (
        leader != NONE
        and s.replica_states[c.unstable_replica].is_shutdown
        and common_prefix(committed, log_of(s, leader)) == len(committed)
    )


NO_BOUNDS = {"max_leader_epoch": None, "max_log_length": None}

FOUND = read_scenario(package_folder("kafka") / "scenarios" / "talk_46_56_found_scenario.txt")

CHALLENGES = [
    Challenge(
        "cross_the_logs",
        "Cross the logs",
        "Bring two logs to hold the records A, B and B, A: at each offset they differ.",
        spec="kafka.finite_replicated_log",
        constants={"replicas": 2},
        reach=is_crossed,
        hints=[
            "Broker 1 holds record A at offset 0 and record B at offset 1, broker 2 the reverse.",
            "No log starts with what the other one starts with, so copying does not help.",
        ],
    ),
    Challenge(
        "commit_as_a_zombie",
        "Commit after you were deposed",
        "Two replicas run KIP-320. Let a replica with two members in its ISR commit a record,"
        " although the controller does not have it as leader any more. It is harmless: whoever"
        " leads next holds the record too.",
        spec="kafka.kip_320",
        constants={"replicas": 2},
        reach=is_committed_by_a_zombie,
        hints=[
            "To commit it must have led, and the follower must have copied the record in the same"
            " leader epoch. None of that is new.",
            "Who has to learn that it is deposed, for a leader to stop? When does it learn that?",
            "The controller may decide anew at any moment before the last step.",
        ],
    ),
    Challenge(
        "lose_a_message",
        "Lose a message by the default rule",
        "Unclean elections are allowed, and take the first alive replica. Lose a committed"
        " message.",
        spec="kafka.unclean_leader_election",
        constants={"election_rule": "first_alive"},
        breaks="committed_messages_never_lost",
        hints=[
            "Something has to be committed that broker 2 does not hold. So broker 2 must be out"
            " of the ISR when it is committed.",
            "After that broker 3 has to leave the ISR too, and it leaves only if it lags: there"
            " must be a message that it lacks.",
            "A producer has one message in flight at a time. There are two producers.",
        ],
    ),
    Challenge(
        "abuse_an_old_request",
        "Abuse an old request",
        "Here the controller accepts every request for an ISR, whatever version it is based on."
        " Make it count a replica that lacks what the leader calls committed.",
        spec=careless,
        breaks="valid_high_watermark",
        hints=[
            "The leader must have forgotten a request, because it has heard of a later version,"
            " while the request is still on its way.",
            "Let the controller remove both followers, so that the leader believes it is alone."
            " Then an old request brings one of them back.",
        ],
    ),
    Challenge(
        "commit_without_the_eligible",
        "Make the eligible replicas lack a record",
        "There is an ELR, but the high watermark rises while the ISR is smaller than"
        " min.insync.replicas, as up to Kafka 3.6. No broker stops and no log is lost; one session"
        " may expire, and one follower may lag. Let the controller elect a leader that lacks what"
        " consumers have read.",
        spec="kafka.kip_966",
        constants={
            "strict_min_isr": False,
            "data_loss_shutdown_limit": 0,
            "fence_broker_limit": 1,
            "leader_shrink_isr_limit": 1,
        },
        breaks="leader_completeness_property",
        hints=[
            "A follower that leaves the ISR is remembered as eligible: the controller takes for"
            " granted that nothing is committed without it. Let the leader commit alone.",
            "The leader accepts a write as long as it believes that the ISR has two members. So let"
            " it ask for the ISR {1} first, then write, and only then learn that the controller"
            " agrees.",
        ],
    ),
    Challenge(
        "save_offset_1",
        "Save offset 1",
        "Slide 52 of the talk: offset 1 was just committed. No clean election will come. Let"
        " broker 1 die and the latest offset be elected, and yet nothing be lost.",
        spec="kafka.unclean_leader_election",
        given=told_until(FOUND, 52),
        reach=the_latest_offset_has_it,
        forbidden=["elect_new_leader"],
        hints=[
            "On slide 56 broker 2 wins against broker 3, because its last message is of a later"
            " epoch. Which message is that, and does the leader have it?",
            "Which action makes a replica drop what its log does not share with the leader's?",
            "The rule acts only when nobody of the ISR is alive. So broker 3 must lag, and leave"
            " the ISR, before broker 1 dies.",
        ],
    ),
    Challenge(
        "lose_a_record",
        "Lose a record before KIP-101",
        "Two replicas cut off at their high watermark in *every* new epoch, as the original"
        " specification has it. Make a member of the controller's ISR lack a committed record.",
        spec="kafka.truncate_to_high_watermark",
        constants={"replicas": 2},
        breaks="strong_isr",
        hints=[
            "Nobody may be dropped from the ISR on the way. Which other decision of the controller"
            " makes a follower truncate?",
            "Let the controller elect a leader three times, the first and the last time the same"
            " replica. The follower picks up the first decision, and later the last one.",
        ],
    ),
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
        given=told_until(FOUND, 50),
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
