"""Everyday words that may stand for each other in a question."""

from __future__ import annotations

from collections.abc import Mapping

from birdenv.users.understanding.vocabulary._word_forms import stem

_GROUPS = """
active current live running working operational
address contact email mail phone reach
age old young younger senior junior birth born
amount sum total quantity volume
area surface space floor size
available free open vacant
bad poor low weak worst
big large huge great main major size
book title volume
borrow loan lend checkout
branch site location office store shop
breakdown failure fault outage defect
brightness luminosity luminous
buy purchase acquire bought
calm stable steady
cancel withdraw void waive
category class type kind group label tier
centre central middle downtown
change shift delta growth increase decrease variation
cheap inexpensive low price
city town place
close near nearby distance proximity
client customer buyer patron user consumer
company firm business organisation organization
complaint grievance dispute
complete finish done fulfil
compliance compliant regulation regulatory rule conform
cost expense price fee charge spend pay paid
count number tally
damage broken harm
danger hazard risk threat unsafe
dark shadow
date day time
dead deceased death
debt owe owed owing outstanding unpaid due arrears
delay late overdue tardy behind
delete remove drop erase
dense density
difference gap spread
different distinct unique separate
disease illness sickness condition comorbidity diagnosis
distance far range kilometre km mile
document paper record file
doctor physician clinician
early before prior
earn income salary wage revenue
efficient efficiency productive effective effectiveness
employee staff worker personnel
energy power electricity
engage engagement involvement interaction participate
error mistake fault
exact precise accurate
excellent outstanding best top
expensive costly pricey
fail failure unsuccessful
fake fraud fraudulent bogus counterfeit suspicious
fast quick speed rapid velocity brisk
fine penalty charge
frequent frequency often regular
full complete whole entire
function feature
gender sex
genuine real authentic
gold golden
good high strong
goods item product merchandise article
grade rating score mark
group team
grow growth rise increase
happy satisfied satisfaction content pleased
health medical
healthy well
heat temperature warm hot thermal
heavy weight mass
hire recruit
home house household dwelling residence live
hospital clinic facility centre
hot warm
idle inactive dormant unused
illegal unlawful
important significant key critical relevant
improve improvement better
interest attention
join enrol register sign
large big
law legal
leave depart departure exit start
level degree tier grade
long length duration lengthy
lose loss lost drain
low small
maintain maintenance repair service fix
make produce manufacture
manager supervisor head
market exchange
match agree fit
member person people reader
message post
mistake error
money amount revenue cash sales value dollar
month monthly
movement move motion
new recent fresh latest
noise noisy
normal usual ordinary typical
object artifact artefact item piece
occupation job profession
often frequency frequently
organ transplant
overall total
owner holder
part piece share component
patient sick
peer similar comparable
people person human rider member customer user
percent percentage share proportion ratio rate fraction
period duration span window
planet world
point score
popular popularity demand favourite beloved
possible potential
present exhibit display
problem issue trouble incident
promise promising potential
protect protection security safe
quality grade condition
quick fast
rating score review star
read reader
recent recently last latest new since
reject refuse deny
reliable reliability dependable trust trusted trustworthy
relocate move
rent rental
reply response answer
request demand ask
resilient resilience robust
return come back arrive arrival
rich wealthy wealth
ride trip journey travel
risk risky danger
road street
room seat capacity
sale sell sold sales
school student pupil education
sensitive sensitivity delicate
serious severe grave critical
session visit
ship shipment deliver delivery transport
short brief
sick ill
size large big area
small little tiny
source origin
specialise specialist specialization expertise expert
spend expense
stable unstable stability variation vary
start begin began depart
station stop dock
status state condition
stock inventory supply
stop end finish
strain stress pressure burden
strict tight
strong intense intensity strength
success successful
supplier vendor provider seller
support help assist
tax duty
telescope observatory
test exam check
thick thickness
ticket pass
trade trader trading transaction
treat treatment therapy
trend direction
urgent priority immediate pressing
usual regular normal
value worth
vehicle car truck bike
violation breach infringement
visit visitor guest
volatile volatility
wait waiting queue
waste loss
water wet
weather climate
website web page
worker staff employee
year annual yearly calendar
lately recent recently since
receive received charge charged paid collect earn bring
pick collect collected hand handed
departure depart start begin out
arrival arrive end finish in
lend lent loan borrow take took
miss missed absent absence attend attended
star rating mark score stars
workshop repair fix
evening late hour time night
dear expensive price fare cost
untimed timed time duration minute
unused use used trip
unrated rating rated
blank empty missing null
extension extend renewal renew
reader member person borrower
girl boy kid child young junior
student pupil
debt owe fine debtor
euro dollar money amount cents
settle settled paid close over
burden cost expense
town city home
satisfied happy content pleased
docks dock slot space
brisk quick fast speed
regular subscription plan
bigger big large
drain loss lose lost
retire retired retirement
abandoned cancelled cancel
piece quantity qty unit number
shift hour duty
attendance attended present show
kilometre km kilometer distance
weigh weight heavy mass
bright luminosity brightness
tilt inclination axis
spin rotate rotation inclination
hazard disaster danger
secrecy sensitive sensitivity confidential
leak breach
supporter fan follower
gift present donation
engage engaging engagement
readability read ease
topic category subject theme
revenue income earning
lag latency delay
responsive response responsiveness
antenna signal radio
coolant cool refrigeration
incident event accident
seal tamper broken compromised
household home house family
degrade degradation wear deterioration
deteriorate deterioration decay
humidity moisture wet
temperature heat temp
clip video short
label tag genre
audience viewer reader
wage salary pay income
visa permit
attorney lawyer
penalty fine sanction
probe investigation inquiry
suspicious suspicion weird odd strange unusual
insider trader
farm producer
manipulate manipulation fake
mouse keyboard device
robot machine
panel module
install installation start
container box
centre hospital center facility
donor organ transplant
failure failed fail
consecutive row successive streak
site building place house branch station location
work novel tome publication title book
forgive forgiven waive waived cancel cancelled strike drop
money cash sum income revenue
blank empty unfilled missing unknown null
july june august summer
reduction rebate discount
journey ride trip voyage
withdraw withdrawn scrap scrapped retire retired
charge battery power
machine equipment device instrument
spoil perish perishable fresh
substitute replacement replace spare
shelf stock
dormant idle inactive unused stationary
trouble crisis distress problem severity
operation mission
trustworthy genuine legit
late tardy overdue
worth value amount
handset gadget device
greatest maximum highest peak
middle centre mid medium
lie lay stand
pay paid settle hand
membership tier plan card
debt owe outstanding unpaid
hit popular favourite bestseller
steady faithful regular loyal
vanish remove delete disappear archive
copy archive transfer
address email contact
workshop repair garage mechanic
paper certificate document organic
handbook glossary
mean average
producer supplier grower
spacious roomy large big
careless damage negligent
worry risk alarm
robust resilient stable
consignment shipment delivery
piece artifact object
person rider member household people
"""


def _read(groups: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in groups.strip().splitlines():
        stems = dict.fromkeys(stem(word) for word in line.split() if word != "|")
        for one in stems:
            found.setdefault(one, {}).update(stems)
    return {one: tuple(other for other in others if other != one) for one, others in found.items()}


SYNONYMS: Mapping[str, tuple[str, ...]] = _read(_GROUPS)
"""For a stem, the stems that may stand for it."""
