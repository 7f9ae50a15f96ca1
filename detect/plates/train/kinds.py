# SPDX-License-Identifier: MIT
"""The kinds of plates: patterns and colours of countries and regions. Every number is invented.

A pattern's letters: L letter, D digit, k consonant, r letter common to Latin and Cyrillic, p Chinese province, h Korean
syllable, j Japanese syllable, t Thai letter, a Arabic digit, b Arabic letter, * round seal or sticker, + small emblem,
| next line, [..] as it stands, others as they stand."""

import collections

Kind = collections.namedtuple('Kind', 'name ratio patterns ground ink fonts weight options')

WHITE, BLACK, YELLOW = (236, 238, 236), (22, 22, 26), (244, 198, 30)
BLUE, RED, GREEN, GREY = (24, 62, 160), (190, 28, 36), (10, 96, 52), (172, 176, 178)
EU = (20, 60, 150)
AMBER = (250, 208, 52)


def kind(name, ratio, patterns, ground=WHITE, ink=BLACK, fonts='din', weight=1.0, **options):
    return Kind(name, ratio, patterns, ground, ink, fonts, weight, options)


EUROPE = [
    kind('de', 4.73, ['LL* LL DDD', 'L* LL DDDD', 'LLL* L DDD', 'LL* L DDDE'], band='D', weight=1.6),
    kind('de2', 1.7, ['LL*|LL DDD', 'L*|LL DDDD'], band='D', square=True),
    kind('fr', 4.73, ['LL-DDD-LL'], band='F', band2='region', weight=1.6),
    kind('it', 4.73, ['LL DDDLL', 'LL*DDDLL'], band='I', band2='region', fonts='narrow'),
    kind('it2', 1.35, ['LL DD|DDDLL', 'LL|DDDDD'], band='I', square=True),
    kind('es', 4.73, ['DDDD kkk'], band='E', fonts='narrow', weight=1.3),
    kind('es2', 1.4, ['DDDD|kkk'], band='E', square=True),
    kind('pl', 4.73, ['LL DDDDD', 'LLL DDDD', 'LL DDDLL'], band='PL'),
    kind('ro', 4.73, ['L DDD LLL', 'LL DD LLL', 'LL*DD LLL'], band='RO', weight=1.3),
    kind('nl', 4.73, ['LL-DDD-L', 'DD-LL-LL', 'L-DDD-LL', 'DD-LLL-D'], AMBER, band='NL', fonts='bold', weight=1.6),
    kind('be', 4.73, ['D-LLL-DDD'], ink=(150, 20, 40), band='B', fonts='narrow'),
    kind('cz', 4.73, ['DLD* DDDD', 'DLL* DDDD'], band='CZ', fonts='narrow'),
    kind('hu', 4.73, ['LLL-DDD', 'LL LL-DDD'], band='H', fonts='bold'),
    kind('se', 4.73, ['LLL DDD', 'LLL*DDL'], band='S', fonts='narrow'),
    kind('fi', 4.0, ['LLL-DDD'], band='FIN', fonts='bold'),
    kind('pt', 4.73, ['LL DD LL', 'DD-LL-DD'], band='P', fonts='bold'),
    kind('at', 4.33, ['LL* DDDLL', 'L* DDDDDL'], band='A', edges=RED),
    kind('gr', 4.73, ['LLL-DDDD'], band='GR'),
    kind('ie', 4.73, ['DDD-L-DDDDD', 'DD-LL-DDDD'], band='IRL', fonts='bold', top=['DUBLIN', 'CORCAIGH', 'GAILLIMH'],
         small=True),
    kind('dk', 4.73, ['LL DD DDD'], band='DK', fonts='bold', border=RED),
    kind('bg', 4.73, ['rr DDDD rr'], band='BG'),
    kind('uk front', 4.68, ['LLDD LLL'], (238, 240, 238), band='UK?', fonts='narrow', weight=1.6),
    kind('uk rear', 4.68, ['LLDD LLL', 'LDDD LLL'], AMBER, band='UK?', fonts='narrow', weight=2.2),
    kind('uk two', 1.4, ['LLDD|LLL'], AMBER, fonts='narrow', weight=0.8),
    kind('ch', 4.2, ['+LL*DDD DDD', '+LL*DDDDDD'], fonts='narrow'),
    kind('ch2', 1.6, ['+ L +|DDD DDD', '+ LL +|DDDDDD'], fonts='narrow', square=True),
    kind('no', 4.6, ['LL DDDDD'], band='N'),
    kind('ru', 4.6, ['rDDDrr'], band2='russia', fonts='din', border=BLACK, weight=1.3),
    kind('ru2', 1.72, ['rDDD|rr DD'], border=BLACK),
    kind('ua', 4.6, ['rr DDDD rr'], band='UA', fonts='narrow'),
    kind('tr', 4.6, ['DD LLL DDD', 'DD LL DDDD', 'DD L DDDDD'], band='TR', fonts='bold', border=BLACK),
    kind('moped', 1.25, ['LLL|DDD', 'DDD|LLL', 'LL D|DDD'], border=BLACK, fonts='narrow'),
    kind('black old', 4.6, ['LLL DDD', 'LL DDDD', 'DDDD LL DD'], (26, 26, 28), (214, 216, 214), fonts='bold'),
    kind('red', 4.6, ['LL DDDD', 'DD DDDD'], WHITE, RED, border=RED),
    kind('green electric', 4.73, ['LL DDDDL', 'DDD LLL'], WHITE, GREEN, band='EV'),
    kind('trailer', 4.73, ['L LLL DDD', 'D LLL DDD'], (196, 34, 40), WHITE),
]

ASIA = [
    kind('in', 4.2, ['LL DD LL DDDD', 'LL-DD-L-DDDD'], band='IND', fonts='bold', border=BLACK, weight=1.6),
    kind('in2', 1.6, ['LL DD LL|DDDD', 'LL DD|L DDDD'], fonts='bold', border=BLACK),
    kind('in taxi', 4.2, ['LL DD L DDDD'], YELLOW, fonts='bold', border=BLACK),
    kind('in taxi2', 1.6, ['LL DD|LL DDDD'], YELLOW, fonts='bold', border=BLACK),
    kind('cn', 3.14, ['pL.DDDDD', 'pL.LDDDD', 'pL.DLDDD'], (22, 64, 168), WHITE, fonts='narrow', border=WHITE, weight=2.6),
    kind('cn green', 3.43, ['pLDDDDDD', 'pLLDDDDD'], fonts='narrow', border=BLACK,
         sky=[(232, 240, 234), (92, 190, 120)], weight=1.6),
    kind('cn lorry', 2.0, ['p.L|DDDDD'], YELLOW, fonts='narrow', border=BLACK),
    kind('jp', 2.0, ['[品川] DDD|j DD-DD', '[横浜] DDD|j DD-DD', '[大阪] DDD|j DD-DD'], ink=(12, 92, 60), fonts='bold',
         rows=(0.3, 0.7), weight=2.2),
    kind('jp kei', 2.0, ['[練馬] DDD|j DD-DD', '[札幌] DDD|j DD-DD'], YELLOW, fonts='bold', rows=(0.3, 0.7)),
    kind('jp lorry', 2.0, ['[神戸] DDD|j DD-DD'], (14, 92, 62), WHITE, fonts='bold', rows=(0.3, 0.7)),
    kind('kr', 4.73, ['DDDh DDDD', 'DDh DDDD'], fonts='bold', band='KOR?', weight=1.4),
    kind('kr2', 2.0, ['[서울] DD|h DDDD', '[경기] DD|h DDDD'], (14, 92, 62), WHITE, fonts='bold', rows=(0.35, 0.65)),
    kind('tw', 2.35, ['LLL-DDDD', 'DDDD-LL'], fonts='narrow', border=BLACK),
    kind('th', 2.27, ['Dtt DDDD', 'tt DDDD'], bottom=['กรุงเทพมหานคร', 'เชียงใหม่', 'ชลบุรี'], fonts='bold', border=BLACK,
         weight=1.2),
    kind('vn', 4.27, ['DDL-DDD.DD'], fonts='narrow', border=BLACK),
    kind('vn2', 1.4, ['DD-LD|DDD.DD', 'DDL|DDD.DD'], fonts='narrow', border=BLACK, weight=1.3),
    kind('id', 3.0, ['L DDDD LL', 'LL DDDD LL'], (24, 24, 26), (224, 226, 224), fonts='narrow', foot='DD.DD', weight=1.6),
    kind('id white', 3.0, ['L DDDD LLL'], fonts='narrow', foot='DD.DD'),
    kind('my', 4.3, ['LLL DDDD', 'L DDDD L', 'LL DDDD'], (20, 20, 22), (232, 232, 232), fonts='bold', weight=1.6),
    kind('my2', 1.5, ['LLL|DDDD'], (20, 20, 22), (232, 232, 232), fonts='bold'),
    kind('il', 4.7, ['DD-DDD-DD', 'DDD-DD-DDD'], (250, 202, 40), band='IL', fonts='bold', border=BLACK, weight=1.3),
    kind('eg', 2.1, ['aaa bb', 'aaaa bb'], headline=((70, 140, 200), ['EGYPT    مصر']), fonts='bold'),
    kind('ksa', 2.0, ['aaaa bbb|DDDD LLL'], fonts='narrow', border=BLACK, band2='ksa'),
    kind('uae', 4.6, ['L DDDDD', 'DD DDDDD'], fonts='narrow', border=BLACK, top=['DUBAI', 'ABU DHABI'], small=True),
    kind('ir', 4.6, ['aa b aaa'], band='IR', band2='iran', border=BLACK, fonts='bold'),
]

AMERICA = [
    kind('br grey', 3.08, ['LLL-DDDD', 'LLL·DDDD'], GREY, fonts='narrow', weight=2.6,
         top=['SP - SAO PAULO', 'RJ - RIO DE JANEIRO', 'MG - BELO HORIZONTE', 'PR - CURITIBA', 'BA - SALVADOR']),
    kind('br red', 3.08, ['LLL-DDDD'], RED, WHITE, fonts='narrow', top=['SP - CAMPINAS', 'RS - PORTO ALEGRE']),
    kind('br mercosur', 3.08, ['LLLDLDD'], headline=((20, 50, 140), ['BRASIL']), fonts='din', weight=2.6),
    kind('br moto', 1.18, ['LLL|DLDD', 'LLL|DDDD'], headline=((20, 50, 140), ['BRASIL']), fonts='din', weight=1.2),
    kind('ar mercosur', 3.08, ['LL DDD LL'], headline=((20, 70, 150), ['REPUBLICA ARGENTINA']), fonts='din', weight=1.3),
    kind('ar old', 2.3, ['LLL DDD'], (24, 24, 26), WHITE, fonts='narrow', top=['ARGENTINA'], border=WHITE),
    kind('cl', 2.8, ['kk.kk.DD', 'kkkk+DD'], fonts='narrow', bottom=['CHILE'], border=BLACK),
    kind('mx', 2.0, ['LLL-DD-DD', 'LLL-DDD-L'], fonts='us', top=['JALISCO', 'CDMX', 'NUEVO LEON', 'PUEBLA'], bottom=['MEXICO'],
         sky=[(238, 238, 234), (200, 220, 200)], weight=1.6),
    kind('co', 2.06, ['LLL DDD', 'LLL·DDD'], (250, 196, 30), fonts='narrow', bottom=['BOGOTA D.C.', 'MEDELLIN', 'CALI'],
         border=BLACK, weight=1.6),
    kind('co moto', 1.4, ['LLL|DDL'], (250, 196, 30), fonts='narrow', bottom=['COLOMBIA']),
    kind('pe', 2.0, ['LDL-DDD'], fonts='narrow', top=['PERU'], border=BLACK),
    kind('us moto', 1.75, ['DDLDDDD', 'LLDDD', 'D LL|DDD'], (230, 236, 240), (26, 40, 110), fonts='us', top=['TEXAS', 'OHIO',
            'IOWA'], small=True),
]


def state(name, patterns, ink, sky, picture='', bottom=('',), headink=None, head=None, weight=0.8, fonts='us', **options):
    return kind('us ' + name, 2.0, patterns, sky[0], ink, fonts, weight, sky=sky, picture=picture, top=[head or name.upper()],
                bottom=list(bottom), headink=headink or ink, tags=True, **options)


SNOW = (238, 240, 242)
STATES = [
    state('California', ['DLLLDDD'], (28, 40, 110), [SNOW], bottom=['dmv.ca.gov', ''], headink=(190, 30, 50), weight=1.6,
          headfont='script'),
    state('New York', ['LLL-DDDD', 'LLL*DDDD'], (26, 40, 90), [(246, 184, 50)], bottom=['EMPIRE STATE']),
    state('New York 2', ['LLL-DDDD'], (30, 52, 110), [SNOW, (210, 222, 236)], 'hills', ['EXCELSIOR'], (200, 150, 30),
          'NEW YORK'),
    state('Texas', ['LLL*DDDD', 'LLL-DDDD'], BLACK, [SNOW], 'star', ['The Lone Star State'], weight=1.3),
    state('Florida', ['LLL LDD', 'DDD LLL', 'LLL*LDD'], (14, 90, 60), [(240, 244, 238), (216, 236, 220)], 'orange',
          ['SUNSHINE STATE', 'IN GOD WE TRUST'],
          head='MYFLORIDA.COM', weight=1.3),
    state('Arizona', ['LLL DDDD', 'L1A DDDD'], (22, 60, 90), [(104, 150, 190), (240, 220, 190), (190, 110, 120)], 'desert',
          ['GRAND CANYON STATE'],
          headink=(240, 250, 250)),
    state('Colorado', ['LLL-LDD', 'DDD-LLL'], WHITE, [(20, 90, 60)], 'mountain', fonts='bold'),
    state('Utah', ['LDD DLL', 'DDD LLL'], (20, 40, 100), [(90, 160, 220), (250, 230, 200), (220, 120, 60)], 'desert',
          ['LIFE ELEVATED']),
    state('Ohio', ['LLL DDDD'], (20, 40, 120), [(236, 240, 244), (170, 200, 230)], 'hills', ['BIRTHPLACE OF AVIATION']),
    state('Michigan', ['LLL DDDD', 'DLL LDD'], (26, 50, 120), [SNOW], 'topwave', ['PURE MICHIGAN', 'GREAT LAKES'],
          headink=WHITE),
    state('Illinois', ['LL DDDDD', 'DDD DDDD'], (190, 30, 40), [(214, 230, 244), SNOW, (220, 232, 240)], 'skyline',
          ['LAND OF LINCOLN'], (30, 60, 140)),
    state('Pennsylvania', ['LLL-DDDD'], (26, 50, 110), [(30, 60, 140), SNOW, SNOW, (246, 206, 50)], '', ['visitPA.com'],
          headink=WHITE),
    state('New Jersey', ['LDD-LLL'], BLACK, [(240, 226, 130), (246, 240, 210)], '', ['GARDEN STATE']),
    state('Georgia', ['LLL DDDD', 'PLL DDDD'], BLACK, [SNOW, (230, 240, 226)], 'peach', ['FULTON', 'GEORGIA.GOV', 'DEKALB']),
    state('Virginia', ['LLL-DDDD'], (30, 50, 120), [SNOW], '', ['VIRGINIA IS FOR LOVERS', '']),
    state('Washington', ['LLLDDDD'], (30, 50, 120), [(220, 232, 240), (160, 196, 224)], 'mountain', ['EVERGREEN STATE'],
          headink=(190, 40, 50)),
    state('Oregon', ['DDD LLL'], (40, 40, 90), [(200, 214, 232), (236, 226, 216)], 'tree', ['PACIFIC WONDERLAND']),
    state('South Carolina', ['LLL DDD'], (30, 40, 90), [(90, 140, 190), SNOW, (220, 190, 130)], 'palm',
          ['WHILE I BREATHE I HOPE']),
    state('Nevada', ['DDD-LDD'], (20, 50, 110), [(214, 226, 240), (240, 220, 190)], 'mountain', ['HOME MEANS NEVADA']),
    state('Massachusetts', ['DLL DDD'], (180, 30, 40), [SNOW], '', ['THE SPIRIT OF AMERICA'], headink=(40, 60, 140)),
    state('Minnesota', ['DDD-LLL'], (20, 50, 120), [(120, 170, 220), SNOW, (150, 200, 230)], 'hills', ['10,000 LAKES']),
    state('Hawaii', ['LLL DDD'], BLACK, [SNOW], 'rainbow', ['ALOHA STATE']),
    state('Ontario', ['LLLL DDD', 'LLLL+DDD'], (30, 60, 140), [SNOW], '', ['YOURS TO DISCOVER'], weight=1.0),
    state('Quebec', ['DDD LLL', 'LDD LLL'], (40, 70, 150), [SNOW], '', ['JE ME SOUVIENS'], weight=0.8, head='Québec'),
    state('British Columbia', ['LL DDD L', 'DDD LLL'], (30, 60, 140), [SNOW, (226, 234, 244)], 'wave', ['BEAUTIFUL'],
          weight=0.6, head='BRITISH COLUMBIA'),
    state('Alberta', ['LLL-DDDD'], (180, 30, 40), [SNOW], '', ['WILD ROSE COUNTRY'], weight=0.6),
]

SOUTH = [
    kind('au nsw', 2.78, ['LLL-DDL', 'LL-DD-LL'], (250, 216, 60), fonts='narrow', bottom=['NEW SOUTH WALES', 'NSW'],
         border=BLACK, weight=1.3),
    kind('au vic', 2.78, ['DLL-DLL', 'LLL-DDD'], (232, 236, 242), (30, 50, 140), fonts='narrow',
         bottom=['VICTORIA - THE EDUCATION STATE', 'VIC']),
    kind('au qld', 2.78, ['DDD-LLD', 'DDD-LLL'], WHITE, (130, 30, 60), fonts='narrow', bottom=['QUEENSLAND - SUNSHINE STATE'],
         border=(130, 30, 60)),
    kind('nz', 2.9, ['LLLDDD', 'LLDDDD'], fonts='narrow'),
    kind('za gp', 4.3, ['LL DD LL [GP]', 'LLL DDD [GP]'], fonts='narrow', border=(30, 60, 140), weight=1.3),
    kind('za ca', 4.3, ['[CA] DDD-DDD', 'LLL DDD [EC]'], WHITE, (30, 60, 140), fonts='narrow'),
    kind('za two', 1.75, ['LL DD|LL [GP]'], fonts='narrow', border=BLACK),
    kind('ng', 2.0, ['LLL-DDDLL'], (236, 240, 240), (30, 60, 150), fonts='narrow', top=['LAGOS', 'ABUJA'],
         bottom=['FEDERAL REPUBLIC OF NIGERIA']),
    kind('ke', 4.3, ['LLL DDDL'], (250, 206, 40), fonts='bold', border=BLACK),
    kind('ma', 4.6, ['DDDDD-b-DD'], fonts='narrow'),
]

ALL = EUROPE + ASIA + AMERICA + STATES + SOUTH
