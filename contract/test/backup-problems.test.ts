/** What went wrong with a backup is written down once, in English, and read in three languages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wayProblem } from '#contract/rules/said.ts';
import { backupProblem, backupSaid } from '#contract/system/backup-problems.ts';

const inChinese = (said: string) => backupProblem(said, 'zh_TW');

test('what we say is said in the language of who reads it, with what it is about', () => {
  const folder = '/srv/backups (old).d';
  const said = backupSaid('noFolder', { folder });
  assert.equal(said, `There is no folder ${folder} on the machine of the control plane: make it, or name another.`);
  assert.equal(backupProblem(said, 'en_US'), said);
  assert.equal(inChinese(said), `控制平面的機器上沒有資料夾 ${folder}：請建立它，或改用別的資料夾。`);
  assert.equal(backupProblem(said, 'zh_CN'), `控制平面的机器上没有文件夹 ${folder}：请创建它，或改用别的文件夹。`);
  assert.equal(inChinese('The disk is full.'), '磁碟已滿。');
});

test('a reason within it is said too, and what others said stays as they said it', () => {
  const name = 'breakwater-20261127-0100-ab12cd.tar.zst.age';
  assert.equal(
    inChinese(backupSaid('unrestorable', { name, why: backupSaid('damaged') })),
    `無法還原 ${name}：內容已損毀，或檔案不完整。`,
  );
  assert.equal(inChinese('S3 PUT: connect ECONNREFUSED 192.0.2.7:9000'), 'S3 PUT：192.0.2.7:9000 拒絕連線');
  assert.equal(
    inChinese('S3 PUT: SignatureDoesNotMatch: the signature is another'),
    'S3 PUT：SignatureDoesNotMatch: the signature is another',
  );
  assert.equal(inChinese("EACCES: permission denied, open '/srv/x'"), "沒有權限（open '/srv/x'）");
  assert.equal(inChinese('nobody has ever said this'), 'nobody has ever said this');
  assert.equal(inChinese(''), '');
});

test('what S3 is not reached for is a reason of S3, and the kind of an address is said too', () => {
  assert.equal(inChinese('S3 PUT: s3.example.com has no address'), 'S3 PUT：找不到 s3.example.com 的位址');
  assert.equal(inChinese('S3 PUT: 10.0.0.7:9000 did not answer in time'), 'S3 PUT：10.0.0.7:9000 沒有及時回應');
  const refused = 'S3 PUT: 10.0.0.7:9000 may not be connected to (private)';
  assert.equal(inChinese(refused), 'S3 PUT：不允許連線到 10.0.0.7:9000（私有位址）');
  assert.equal(backupProblem(refused, 'zh_CN'), 'S3 PUT：不允许连接到 10.0.0.7:9000（私有地址）');
  assert.equal(backupProblem(refused, 'en_US'), refused);
});

test('what a webhook, Telegram or a mail server is not reached for is read in the reader’s language too', () => {
  assert.equal(wayProblem('connect ECONNREFUSED 127.0.0.1:9', 'zh_TW'), '127.0.0.1:9 拒絕連線');
  assert.equal(wayProblem('10.0.0.7:443 may not be connected to (private)', 'zh_CN'), '不允许连接到 10.0.0.7:443（私有地址）');
  assert.equal(wayProblem('hooks.example.com has no address', 'zh_TW'), '找不到 hooks.example.com 的位址');
  assert.equal(wayProblem('535 user name or password refused', 'zh_TW'), '535 使用者名稱或密碼遭拒');
  assert.equal(wayProblem('AUTH user name or password refused', 'zh_CN'), 'AUTH 用户名或密码被拒绝');
  assert.equal(wayProblem('no mail server is set', 'zh_TW'), '尚未設定郵件伺服器');
  assert.equal(wayProblem('550 5.1.1 no such user', 'zh_TW'), '550 5.1.1 no such user');
});
