/** Cities where nodes stand, to pick from: country, latitude, longitude, and the name in English and in Chinese (Taiwan, then China where it differs). */
const table = `
TW 25.03 121.56 Taipei|臺北|台北
TW 24.14 120.68 Taichung|臺中|台中
TW 22.63 120.30 Kaohsiung|高雄
HK 22.32 114.17 Hong Kong|香港
MO 22.20 113.55 Macao|澳門|澳门
CN 39.90 116.40 Beijing|北京
CN 31.23 121.47 Shanghai|上海
CN 23.13 113.26 Guangzhou|廣州|广州
CN 22.54 114.06 Shenzhen|深圳
CN 30.57 104.07 Chengdu|成都
CN 29.56 106.55 Chongqing|重慶|重庆
CN 30.27 120.16 Hangzhou|杭州
CN 30.59 114.31 Wuhan|武漢|武汉
CN 34.34 108.94 Xi’an|西安
CN 39.13 117.20 Tianjin|天津
CN 32.06 118.80 Nanjing|南京
CN 36.07 120.38 Qingdao|青島|青岛
CN 26.07 119.30 Fuzhou|福州
CN 24.48 118.09 Xiamen|廈門|厦门
CN 43.83 87.62 Ürümqi|烏魯木齊|乌鲁木齐
JP 35.68 139.69 Tokyo|東京|东京
JP 34.69 135.50 Osaka|大阪
JP 33.59 130.40 Fukuoka|福岡|福冈
JP 43.06 141.35 Sapporo|札幌
KR 37.57 126.98 Seoul|首爾|首尔
KR 35.18 129.08 Busan|釜山
SG 1.35 103.82 Singapore|新加坡
MY 3.14 101.69 Kuala Lumpur|吉隆坡
MY 1.49 103.74 Johor Bahru|新山
TH 13.76 100.50 Bangkok|曼谷
VN 21.03 105.85 Hanoi|河內|河内
VN 10.82 106.63 Ho Chi Minh City|胡志明市
PH 14.60 120.98 Manila|馬尼拉|马尼拉
ID -6.21 106.85 Jakarta|雅加達|雅加达
ID -7.26 112.75 Surabaya|泗水
KH 11.56 104.92 Phnom Penh|金邊|金边
MM 16.87 96.20 Yangon|仰光
LA 17.98 102.63 Vientiane|永珍|万象
MN 47.89 106.91 Ulaanbaatar|烏蘭巴托|乌兰巴托
IN 19.08 72.88 Mumbai|孟買|孟买
IN 28.61 77.21 Delhi|德里
IN 13.08 80.27 Chennai|清奈|金奈
IN 12.97 77.59 Bengaluru|班加羅爾|班加罗尔
IN 17.39 78.49 Hyderabad|海得拉巴
PK 24.86 67.01 Karachi|喀拉蚩|卡拉奇
BD 23.81 90.41 Dhaka|達卡|达卡
LK 6.93 79.86 Colombo|可倫坡|科伦坡
NP 27.72 85.32 Kathmandu|加德滿都|加德满都
KZ 43.24 76.89 Almaty|阿拉木圖|阿拉木图
UZ 41.30 69.24 Tashkent|塔什干
AE 25.20 55.27 Dubai|杜拜|迪拜
AE 25.12 56.33 Fujairah|富查伊拉
SA 24.71 46.68 Riyadh|利雅德|利雅得
SA 21.49 39.19 Jeddah|吉達|吉达
QA 25.29 51.53 Doha|杜哈|多哈
KW 29.38 47.98 Kuwait City|科威特市
BH 26.23 50.59 Manama|麥納瑪|麦纳麦
OM 23.59 58.41 Muscat|馬斯開特|马斯喀特
IL 32.09 34.78 Tel Aviv|特拉維夫|特拉维夫
TR 41.01 28.98 Istanbul|伊斯坦堡|伊斯坦布尔
GE 41.72 44.79 Tbilisi|提比里斯|第比利斯
GB 51.51 -0.13 London|倫敦|伦敦
GB 53.48 -2.24 Manchester|曼徹斯特|曼彻斯特
IE 53.35 -6.26 Dublin|都柏林
FR 48.86 2.35 Paris|巴黎
FR 43.30 5.37 Marseille|馬賽|马赛
NL 52.37 4.90 Amsterdam|阿姆斯特丹
BE 50.85 4.35 Brussels|布魯塞爾|布鲁塞尔
LU 49.61 6.13 Luxembourg|盧森堡|卢森堡
DE 50.11 8.68 Frankfurt|法蘭克福|法兰克福
DE 52.52 13.41 Berlin|柏林
DE 48.14 11.58 Munich|慕尼黑
DE 53.55 9.99 Hamburg|漢堡|汉堡
DE 51.23 6.77 Düsseldorf|杜塞道夫|杜塞尔多夫
CH 47.38 8.54 Zurich|蘇黎世|苏黎世
CH 46.20 6.14 Geneva|日內瓦|日内瓦
AT 48.21 16.37 Vienna|維也納|维也纳
IT 45.46 9.19 Milan|米蘭|米兰
IT 41.90 12.50 Rome|羅馬|罗马
ES 40.42 -3.70 Madrid|馬德里|马德里
ES 41.39 2.17 Barcelona|巴塞隆納|巴塞罗那
PT 38.72 -9.14 Lisbon|里斯本
GR 37.98 23.73 Athens|雅典
CZ 50.08 14.44 Prague|布拉格
PL 52.23 21.01 Warsaw|華沙|华沙
HU 47.50 19.04 Budapest|布達佩斯|布达佩斯
RO 44.43 26.10 Bucharest|布加勒斯特
BG 42.70 23.32 Sofia|索菲亞|索非亚
RS 44.79 20.45 Belgrade|貝爾格勒|贝尔格莱德
HR 45.81 15.98 Zagreb|札格雷布|萨格勒布
UA 50.45 30.52 Kyiv|基輔|基辅
RU 55.76 37.62 Moscow|莫斯科
RU 59.93 30.34 Saint Petersburg|聖彼得堡|圣彼得堡
RU 43.12 131.89 Vladivostok|海參崴|符拉迪沃斯托克
SE 59.33 18.07 Stockholm|斯德哥爾摩|斯德哥尔摩
DK 55.68 12.57 Copenhagen|哥本哈根
NO 59.91 10.75 Oslo|奧斯陸|奥斯陆
FI 60.17 24.94 Helsinki|赫爾辛基|赫尔辛基
EE 59.44 24.75 Tallinn|塔林
LV 56.95 24.11 Riga|里加
LT 54.69 25.28 Vilnius|維爾紐斯|维尔纽斯
IS 64.15 -21.94 Reykjavík|雷克雅維克|雷克雅未克
US 40.71 -74.01 New York|紐約|纽约
US 39.04 -77.49 Ashburn|阿什本
US 33.75 -84.39 Atlanta|亞特蘭大|亚特兰大
US 25.76 -80.19 Miami|邁阿密|迈阿密
US 41.88 -87.63 Chicago|芝加哥
US 32.78 -96.80 Dallas|達拉斯|达拉斯
US 29.76 -95.37 Houston|休士頓|休斯敦
US 39.74 -104.99 Denver|丹佛
US 33.45 -112.07 Phoenix|鳳凰城|凤凰城
US 36.17 -115.14 Las Vegas|拉斯維加斯|拉斯维加斯
US 34.05 -118.24 Los Angeles|洛杉磯|洛杉矶
US 37.34 -121.89 San Jose|聖荷西|圣何塞
US 37.77 -122.42 San Francisco|舊金山|旧金山
US 47.61 -122.33 Seattle|西雅圖|西雅图
US 45.52 -122.68 Portland|波特蘭|波特兰
US 42.36 -71.06 Boston|波士頓|波士顿
US 21.31 -157.86 Honolulu|檀香山
CA 43.65 -79.38 Toronto|多倫多|多伦多
CA 45.50 -73.57 Montréal|蒙特婁|蒙特利尔
CA 49.28 -123.12 Vancouver|溫哥華|温哥华
MX 19.43 -99.13 Mexico City|墨西哥城
MX 20.59 -100.39 Querétaro|克雷塔羅|克雷塔罗
PA 8.98 -79.52 Panama City|巴拿馬城|巴拿马城
CO 4.71 -74.07 Bogotá|波哥大
PE -12.05 -77.04 Lima|利馬|利马
CL -33.45 -70.67 Santiago|聖地牙哥|圣地亚哥
AR -34.60 -58.38 Buenos Aires|布宜諾斯艾利斯|布宜诺斯艾利斯
BR -23.55 -46.63 São Paulo|聖保羅|圣保罗
BR -22.91 -43.17 Rio de Janeiro|里約熱內盧|里约热内卢
BR -3.73 -38.53 Fortaleza|福塔萊薩|福塔莱萨
ZA -26.20 28.05 Johannesburg|約翰尼斯堡|约翰内斯堡
ZA -33.92 18.42 Cape Town|開普敦|开普敦
NG 6.52 3.38 Lagos|拉哥斯|拉各斯
KE -1.29 36.82 Nairobi|奈洛比|内罗毕
GH 5.60 -0.19 Accra|阿克拉
EG 30.04 31.24 Cairo|開羅|开罗
MA 33.57 -7.59 Casablanca|卡薩布蘭卡|卡萨布兰卡
TN 36.81 10.18 Tunis|突尼斯
SN 14.72 -17.47 Dakar|達喀爾|达喀尔
ET 9.01 38.76 Addis Ababa|阿迪斯阿貝巴|亚的斯亚贝巴
AO -8.84 13.23 Luanda|羅安達|罗安达
MU -20.16 57.50 Port Louis|路易士港|路易港
AU -33.87 151.21 Sydney|雪梨|悉尼
AU -37.81 144.96 Melbourne|墨爾本|墨尔本
AU -27.47 153.03 Brisbane|布里斯本|布里斯班
AU -31.95 115.86 Perth|伯斯|珀斯
NZ -36.85 174.76 Auckland|奧克蘭|奥克兰
GU 13.44 144.79 Guam|關島|关岛
FJ -18.14 178.44 Suva|蘇瓦|苏瓦
`;

export interface City {
  /** ISO 3166-1 alpha-2 */
  country: string;
  /** degrees */
  latitude: number;
  longitude: number;
  name: Readonly<Record<'zh_TW' | 'zh_CN' | 'en_US', string>>;
}

export const cities: readonly City[] = table
  .trim()
  .split('\n')
  .map(line => {
    const [, country, latitude, longitude, names] = /^(\S+) (\S+) (\S+) (.+)$/.exec(line)!;
    const [english, taiwan, china] = names!.split('|');
    return {
      country: country!,
      latitude: Number(latitude),
      longitude: Number(longitude),
      name: { en_US: english!, zh_TW: taiwan!, zh_CN: china ?? taiwan! },
    };
  });
