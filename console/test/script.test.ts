/** Each Chinese column in its own script: what Taiwan and the mainland write differently stands where it is read. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contextual, errorNames, errors, genericMessage } from '#contract/errors.ts';
import { ruleTexts } from '#contract/rules/rule.ts';
import { reasons as refusals, reasonText, type Reason as Refusal } from '#contract/states.ts';
import { adviceOf, type CheckID, reasons, sentenceOf } from '#contract/system/health.ts';

/** Traditional and Simplified in turns: frequent characters of which each belongs to one of the two alone. */
const pairs = [
  ...`個个們们這这為为務务來来時时間间還还過过進进對对開开關关閉闭長长門门問问題题頁页項项須须預预順顺額额類类顯显頻频顏颜頭头`,
  ...`從从應应當当會会無无發发動动機机業业產产經经給给說说設设計计訂订訊讯記记許许訪访註注診诊詞词試试該该詳详語语誤误請请調调證证`,
  ...`認认識识議议護护讀读變变讓让誰谁論论譯译負负責责貨货費费貼贴資资賬账賴赖贈赠車车軟软載载較较輕轻輯辑輸输轉转輪轮邊边達达`,
  ...`運运遠远連连週周遞递選选遺遗遲迟郵邮鄰邻釋释裡里針针鈕钮鉤钩銷销錄录錯错鍵键鎖锁鏈链鐘钟鑰钥錢钱陽阳階阶際际隊队隨随險险`,
  ...`隱隐雜杂離离難难電电靜静響响風风飛飞飯饭餘余館馆馬马駐驻驗验驅驱體体點点黨党齊齐齡龄龍龙麼么黃黄麗丽魚鱼鳥鸟鮮鲜`,
  ...`並并傳传價价優优儲储儘尽僅仅億亿側侧偵侦備备債债傷伤倉仓倫伦條条兩两內内別别刪删則则創创劃划劇剧劉刘劑剂勝胜勞劳勢势區区`,
  ...`協协單单卻却參参啟启員员嗎吗嘗尝嚴严國国園园圖图圓圆圍围團团執执報报場场塊块壓压壞坏壯壮夠够夾夹夢梦學学孫孙實实寫写寬宽審审`,
  ...`將将專专尋寻導导層层屬属島岛師师帳帐帶带幣币幫帮庫库廠厂廣广廳厅廢废強强彈弹彙汇後后徑径復复恆恒態态慮虑憑凭懷怀戰战戲戏`,
  ...`戶户捨舍掃扫掛挂採采換换損损據据擁拥擇择擊击擋挡擔担擬拟擴扩擾扰攔拦敗败敵敌數数斷断於于暫暂曉晓書书東东業业標标`,
  ...`樣样樹树樓楼樂乐檔档檢检櫃柜欄栏權权歡欢歷历殘残殺杀氣气決决沒没況况淨净測测湊凑滿满漢汉潔洁潛潜濾滤灣湾災灾熱热營营`,
  ...`燈灯爭争爾尔牆墙狀状獨独獲获獎奖現现環环瀏浏畫画異异療疗盡尽監监盤盘眾众礎础碼码確确禮礼禪禅種种稱称積积穩稳窮穷窩窝筆笔節节`,
  ...`範范築筑簡简簽签籤签糧粮糾纠紀纪約约紅红級级紋纹納纳紙纸純纯細细終终組组結结絕绝絡络統统絲丝綁绑經经綠绿維维網网綱纲緊紧緒绪`,
  ...`線线編编緩缓緣缘緯纬練练縮缩縱纵總总績绩織织繞绕繼继續续纖纤罰罚羅罗義义習习聖圣聞闻聯联聲声職职聽听腦脑與与興兴舊旧艦舰`,
  ...`藍蓝藝艺葉叶蓋盖薦荐處处虛虚號号蟲虫術术衛卫衝冲補补裝装製制複复見见規规視视親亲覺觉覽览觀观觸触訴诉評评詢询`,
];
/** 里, 周, 采 … are words of both; their other half is not. */
const ofBoth = new Set('里周采注划余叶舍并御回面后制复范签台冲担么筑凭');
const traditionalOnly = new Set(pairs.filter((_, i) => i % 2 === 0));
const simplifiedOnly = new Set(pairs.filter((one, i) => i % 2 === 1 && !ofBoth.has(one)));

const columns = {
  zh_TW: { own: traditionalOnly, foreign: simplifiedOnly },
  zh_CN: { own: simplifiedOnly, foreign: traditionalOnly },
} as const;
type Column = keyof typeof columns;
/** The languages are called by their own names everywhere. */
const names = /繁體中文|简体中文/g;
const found = (text: string, characters: Set<string>) =>
  [...new Set(text.replaceAll(names, ''))].filter(one => characters.has(one));

/** @param texts what is read there, by where it stands */
function inScript(column: Column, texts: Record<string, string>): void {
  const { own, foreign } = columns[column];
  const wrong = Object.entries(texts).flatMap(([where, text]) => found(text, foreign).map(one => `${where}: ${one}`));
  assert.deepEqual(wrong, []);
  assert.ok(found(Object.values(texts).join(''), own).length > 0, 'nothing that could tell the two apart');
}

test('sample: the table has pairs, no character stands on both sides, and it tells the two apart', () => {
  assert.equal(pairs.length % 2, 0);
  assert.ok(traditionalOnly.size > 400 && simplifiedOnly.size > 380, `${traditionalOnly.size} and ${simplifiedOnly.size}`);
  assert.deepEqual(
    [...traditionalOnly].filter(one => simplifiedOnly.has(one)),
    [],
  );
  assert.throws(() => inScript('zh_CN', { a: '这里', b: '服務' }), /b: 務/);
  assert.throws(() => inScript('zh_TW', { a: '這裡', b: '服务' }), /b: 务/);
});

for (const column of Object.keys(columns) as Column[]) {
  test(`${column}: every file of texts`, () => {
    const root = new URL('../../', import.meta.url).pathname;
    const files = globSync([`{console,contract}/src/**/{*.,}${column}.ts`], { cwd: root });
    assert.ok(files.length >= 15, files.join());
    inScript(column, Object.fromEntries(files.map(file => [file, readFileSync(root + file, 'utf8')])));
  });

  test(`${column}: what is read of errors, of health, of what is refused and of what a form may hold`, () => {
    inScript(column, Object.fromEntries(errorNames.map(name => [name, errors[name].text[column]])));
    inScript(column, { generic: genericMessage[column] });
    const again = Object.entries(contextual).map(([name, text]) => [name, text[column]]);
    inScript(column, Object.fromEntries(again));
    const findings = reasons.map(reason => ({ id: reason.split('.')[0] as CheckID, state: 'warn', reason }) as const);
    inScript(column, Object.fromEntries(findings.map(one => [one.reason, sentenceOf(one, column)])));
    inScript(column, Object.fromEntries(findings.map(one => [one.reason, adviceOf(one, column)])));
    inScript(column, Object.fromEntries(Object.keys(refusals).map(why => [why, reasonText(why as Refusal, column)])));
    inScript(column, Object.fromEntries(Object.entries(ruleTexts).map(([name, text]) => [name, text[column]])));
  });
}
