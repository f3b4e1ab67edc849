"""Words that are no values: what goals do, how many they mean, when, in which order and in which unit.

Plain lists of English, for telling values from words in `goals` and `names`. A word that is missing makes
two goals differ, or is taken for a name where only names stand; none is a name of somebody.
"""

from collections.abc import Iterator


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


OPERATIONS = words("""
    accept add allow annotate apologise apologize append apply approve archive ask assign attach
    authorize average backup ban block book build buy calculate call cancel categorize change charge
    check clarify classify clean clear clone close combine compare compile complain complete compress
    compute configure confirm continue convert copy count create crop cut decline decrease decrypt delay
    delete delegate deploy describe design detect develop disable discuss display dispatch divide
    download draft draw drop duplicate edit email empty enable encrypt end erase estimate evaluate
    exclude explain export extend extract fetch fill filter find finish fix flag format forward freeze
    generate get give grant group hide implement import improve include increase inform insert inspect
    install integrate invite join keep kill label leave like list load lock log lower make map mark
    measure merge message modify monitor move multiply mute name notify open optimize order organize
    park pause pay pin plan play plot post postpone predict prepare print proceed propose publish pull
    purchase push put raise rank rate read reassign reboot rebook receive recommend record reconsider
    recover redirect reduce refactor refund register reject release remind remove rename renew reopen
    reorder repeat replace reply report request reschedule reserve reset resize resolve respond restart
    restore resume retrieve return reverse revert review revoke rewrite rotate save say scan schedule
    scrape search select sell send separate set share shift shorten show sign simplify skip sort split
    start stop store submit subscribe subtract sum summarise summarize suspend snooze swap switch sync
    take tell test thank title toggle track train transfer translate trim turn unassign unblock undo
    unfollow uninstall unlock unmute unpin unsubscribe update upgrade upload use validate verify view
    visualise visualize wait warn withdraw write zip""")
CHANGES = words("""
    add append archive assign attach buy cancel clear create delete drop edit empty forward insert invite
    move pay postpone push reassign remove rename replace reply reschedule reset schedule send set submit
    swap update upload write""")
"""Operations that leave the world another than it was, and are no nouns of such tasks."""
QUESTIONS = words("what who which when where how why whose whom")
_IRREGULAR = {
    "sent": "send", "gave": "give", "given": "give", "wrote": "write", "written": "write",
    "made": "make", "took": "take", "taken": "take", "found": "find", "got": "get", "told": "tell",
    "bought": "buy", "paid": "pay", "sold": "sell", "kept": "keep", "built": "build", "hid": "hide",
    "hidden": "hide", "said": "say", "drew": "draw", "drawn": "draw", "froze": "freeze",
    "frozen": "freeze",
}  # fmt: skip


def _forms(lemma: str) -> Iterator[str]:
    stem = lemma[:-1] if lemma.endswith(("e", "y")) else lemma
    doubled = lemma + lemma[-1]
    yield from (
        lemma,
        f"{lemma}s",
        f"{lemma}es",
        f"{lemma}ing",
        f"{lemma}ed",
        f"{doubled}ing",
        f"{doubled}ed",
    )
    if lemma.endswith("e"):
        yield from (f"{stem}ing", f"{stem}ed")
    if lemma.endswith("y"):
        yield from (f"{stem}ies", f"{stem}ied")


LEMMAS = (
    {form: lemma for lemma in sorted(OPERATIONS) for form in _forms(lemma)}
    | {lemma: lemma for lemma in OPERATIONS | QUESTIONS}
    | _IRREGULAR
)
"""The operation or question that a word is a form of. No two operations share one: to delete a meeting and to
cancel it may be two tools."""
SAME = {"erase": "delete", "modify": "change", "alter": "change", "e-mail": "email", "e-mails": "emails"}
"""Words that mean just what another does."""
_UNITS = words("second minute hour day week fortnight month quarter year")
UNITS = {form: unit for unit in _UNITS for form in (unit, f"{unit}s")} | {
    "h": "hour", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute",
    "sec": "second", "secs": "second",
}  # fmt: skip
QUANTITY = words("""
    all every each any some none no only one ones both either neither first second third last latest
    earliest newest oldest next previous future past recent upcoming most least more less fewer fewest
    many several few half other another same again once twice remaining rest entire whole""")
CONDITION = words("""
    if whether unless not never without except excluding otherwise already else instead until till while
    whenever because since although though yet still than only cannot""")
COMPARISON = words("""
    before after earlier later over under above below forward back backward ahead up down between to
    from into onto increase decrease overdue due longer shorter higher lower larger smaller bigger
    greater sooner exactly""")
STATE = words("""
    overdue unread urgent unfinished finished completed complete started unstarted cancelled canceled
    pending recurring open closed done important due free busy unassigned assigned blocked incomplete
    outstanding high low medium normal critical active inactive expired""")
DECIDING = QUANTITY | CONDITION | COMPARISON | (STATE - words("done"))
FUNCTION = QUESTIONS | words("""
    a an the this that these those i me my mine myself you your yours yourself we us our ours ourselves
    they them their theirs themselves he him his himself she her hers herself it its itself one's there
    here and or but nor so then than as at by for from in into of off on onto out to up with within
    about around against along among during per through toward towards upon via is are was were be been
    being am do does did has have had having can could will would shall should may might must let need
    needs want wants just also too very now please i'm i've i'd i'll it's that's don't saying called
    named titled entitled such""")
DETERMINERS = (QUANTITY - {"all", "any"}) | words(
    "a an the this that these those my your our their his her its new own"
)
RECORDS = words("email emails mail mails message messages task tasks ticket tickets note notes")
OBJECTS = RECORDS | words("""
    meeting meetings event events issue issues file files folder folders project projects board boards
    backlog calendar inbox outbox spam trash archive drafts document documents contact contacts customer
    customers client clients user users item items team teams appointment appointments invoice invoices
    payment payments product products page pages image images photos videos memos list lists row rows
    column columns table tables report reports status""")
NOUNS = OBJECTS | words("""
    work home office school support sales marketing engineering finance legal management staff everyone
    everybody someone somebody anyone anybody nobody everything something anything nothing people
    friends family colleagues progress review backlog todo scratch hand care lunch dinner breakfast
    coffee memory disk storage cloud voicemail phone text chat video audio paper print csv json pdf html
    markdown excel word slack zoom google gmail outlook jira github python java class room today
    priority data code feedback context details attachment pleasure regards love thanks money time
    questions help advice information html5 sql xml yaml""")
ORDINARY = (
    FUNCTION
    | QUANTITY
    | CONDITION
    | COMPARISON
    | STATE
    | NOUNS
    | frozenset(UNITS)
    | LEMMAS.keys()
    | SAME.keys()
)
"""Words that are no name of their own."""
PLAIN = FUNCTION | QUANTITY | CONDITION
"""Words that have a capital inside a sentence only where all words may have one."""
TURNING = PLAIN | COMPARISON
"""Words that end a name."""
EVENTS = words("meeting meetings event events appointment appointments")
ORDERS = words("next last first future more upcoming previous")
PLACES = words("backlog board list project folder channel team calendar column")
DOES = words("is isn't was wasn't has hasn't had will won't needs wants just left did didn't does doesn't")
"""What one does or is, after the name."""
DO = words("are aren't were weren't have haven't had will need want just left did didn't do don't")
"""What two do or are."""
MEETS = words("""
    meet met meeting meetings event call catch lunch dinner appointment session chat talk speak sync
    share""")
MAILS = words(
    "email emails mail mails message messages reply replies letter letters invite request note call"
)
SENDS = words("send forward reply write assign reassign give delegate share introduce")
MOVES = words("move change rename set convert turn update translate export switch increase decrease reduce")
TELLS = words("tell ask remind invite notify inform thank")
SORTS = words("sort group order filter rank divide multiply")
AFTER_RECIPIENT = words("and or saying about with on at by from for in before after as because please")
