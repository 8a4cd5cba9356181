/** Certificates and keys read in the browser, against what OpenSSL wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chainOf, isKeyOf, readPem } from '../src/kit/pem.ts';
import { samples } from '../gallery/samples.ts';

const { leaf, issuer, root, key, otherKey } = samples;
const rsa = `-----BEGIN CERTIFICATE-----
MIIDAzCCAeugAwIBAgIUag2Xm95MU2TqEoxduCHfebWsVuowDQYJKoZIhvcNAQEL
BQAwETEPMA0GA1UECgwGU2FtcGxlMB4XDTI2MTEyMjE5MDY1M1oXDTQ2MTExNzE5
MDY1M1owETEPMA0GA1UECgwGU2FtcGxlMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A
MIIBCgKCAQEAmseNRcojUU64tBPCW5joV5aXvU2t/Hp6Ex9kh9cpRpm4asQ2rQ9r
5OXUiUnEyf6AR5FnRDzYfm+bl09nDMyRqnYHXD1dc8RC0lz8grJVHqQ3iQi9cqaG
YMCnz4R0EjZmYqmyDDVnuqowJyALhNv8z0Q03Wnzo5m3yTrlBNzxBxVNhGOqg2m1
wfUApdzDxmJO2L7Vrpls3hqV/aaI/K2UQr23mRnM8q1sXLoshDSlOt2wlT/kF6oC
qQTg5t2uY9XmG0mKXOzQnhI7XQzVbCOihnWZNAi1Ares5zivRe1kvVFgXYX1Edct
OEnWR9oie4N1xKgEN1CgvvHI4Cf5t6FBLQIDAQABo1MwUTAdBgNVHQ4EFgQUkIey
pN2ZXlTxw7ddrThTlHkCUz8wHwYDVR0jBBgwFoAUkIeypN2ZXlTxw7ddrThTlHkC
Uz8wDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEADF5q7Tl7HKC2
xOuS5X2wCfRRVdmUuTQM2TBN8pVhYA1OOWgVtWZhPqU/Mbi71uWw3u2rXNGXlWnt
QQTuSUvfXn9JUVL8Wpo5aoj2R2Uog+XPVjqvDX8mJPGrK5VznPEZ+aF1hrukQJFg
9Ee0Y4C7l0N7jLPlPqoq/qs/5uP8jrG48z3zt7oAOuamTAwK/HAnYvN89CdRDPaO
8ipDFebRxjoIsAY3UX4oLwY9m0ZA7DuEkpwH79Cepd0ZX+vzMoTlixBe3vf/QFXJ
gu+/ywMYulPXSuvYA7+FOvcWV4iiTGmeq/LG14DTGWy2UN13uHxbcs5oAirB1Ira
Z0rBHMJgow==
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCax41FyiNRTri0
E8JbmOhXlpe9Ta38enoTH2SH1ylGmbhqxDatD2vk5dSJScTJ/oBHkWdEPNh+b5uX
T2cMzJGqdgdcPV1zxELSXPyCslUepDeJCL1ypoZgwKfPhHQSNmZiqbIMNWe6qjAn
IAuE2/zPRDTdafOjmbfJOuUE3PEHFU2EY6qDabXB9QCl3MPGYk7YvtWumWzeGpX9
poj8rZRCvbeZGczyrWxcuiyENKU63bCVP+QXqgKpBODm3a5j1eYbSYpc7NCeEjtd
DNVsI6KGdZk0CLUCt6znOK9F7WS9UWBdhfUR1y04SdZH2iJ7g3XEqAQ3UKC+8cjg
J/m3oUEtAgMBAAECggEAA7lzi89eZDF5vlOPZLbcOGdWRWbeHeowj888kww5YQqH
5oHMMwPg+8QQBjGxO48VNSOpkXnJV9mFq/FsMGGny6tFaBHN8uAxH3C/XsG9zJv0
/iYosN6S8zcPkq3EQT/v3MXqk+KhGVvJBtf9jvfgMHiasQ1AoJotUvlI04IhhqMS
AvsYZVwG7HyTZlT8zGJ/fj/J4RrHhA/tZUJTQtJNAUI/E3ZJ2Nc0o+UVPltICsbc
pZfHjQuxpUSHoP52jcxoNkg2Mn4lpwDWp7jjfTp74Osj/4URdx7H0RyyPArlOcHe
3PjScS/t4EG3eyx0unpl4pVk9sdAdQiJVza94y3tHQKBgQDH+ziI/2ECXDGNKaf7
v5xU5MTX6Wj5JLraEoSpqPDiRkSt/We7QJZRiXvD0v0fkIFiwUfN2ddt5XCqJyKZ
KIVvc9MqBTQ/YWuwKH6QsoGwrZ11l7OEevaZcmd9Wb37prKWV+FbPtgcQ1+NKKXd
SiFQgn6MTDjmNFQMEBm30YsclwKBgQDGIuGIXISteFnKWT3Z0p28y1jvgJPcnges
yoxw6p23vUjFJpgLqxny3/NjbR0ozR2TEhLZO4KZzXPtIHd2luBznso5l8ltLKmF
br7FmVUkwSP2X+8VjWVeJa1s5F9BX34PM6JsXor8zBK/zjW/R0cjo1q6nABQfcr3
x8NnvDwU2wKBgBNB7uzKYuYeSKtGUqXcispmCUqdcH1lexTa6amI2kF/8Mcsetu+
WXtamO9/lt5+ROdko2yASM2NZa8M+7jx/P+BkNkgDSr5T6x0CdQXTIPeBCa5yBC+
4pZePPcGOFROdi4iIlJuF9OI7V+jhW1s4Q5mspcCFAyfB2Tt+/wGkrXbAoGBALnU
GSalbyKrT7uCe4oCCUL6jQ0D0KoH5TbgOVvmD8o2Uzvk+JFpBktOU52axtBvoB9B
wj/PmqvZj7KE0sZ8t0J5WT0u6RHl45Brz6zQJJT2OF5ol3nlRX9JYyBQCC7t+vMT
AHEXMs/qLmOKacpedZAtM3j1uy3C7Uv7JX/zgX4lAoGBAIi4tyvb+kVUXYrtILh9
5WviU/vT8lOjbwjdit9mEXkWZRuUlmO4J1sB4yzMluKT4z0wu0k7uqeWV0Z0cY2J
+fqTVPuRA0EOutM9NlPnbG+O8/MeCzipH9bA4QFfYGTbLNooVdeB2T+9S68u+9Gg
9JkqCKeK/VEsH0T6JsFRhdUG
-----END PRIVATE KEY-----`;
const rsaOld = `-----BEGIN RSA PRIVATE KEY-----
MIIEpAIBAAKCAQEAmseNRcojUU64tBPCW5joV5aXvU2t/Hp6Ex9kh9cpRpm4asQ2
rQ9r5OXUiUnEyf6AR5FnRDzYfm+bl09nDMyRqnYHXD1dc8RC0lz8grJVHqQ3iQi9
cqaGYMCnz4R0EjZmYqmyDDVnuqowJyALhNv8z0Q03Wnzo5m3yTrlBNzxBxVNhGOq
g2m1wfUApdzDxmJO2L7Vrpls3hqV/aaI/K2UQr23mRnM8q1sXLoshDSlOt2wlT/k
F6oCqQTg5t2uY9XmG0mKXOzQnhI7XQzVbCOihnWZNAi1Ares5zivRe1kvVFgXYX1
EdctOEnWR9oie4N1xKgEN1CgvvHI4Cf5t6FBLQIDAQABAoIBAAO5c4vPXmQxeb5T
j2S23DhnVkVm3h3qMI/PPJMMOWEKh+aBzDMD4PvEEAYxsTuPFTUjqZF5yVfZhavx
bDBhp8urRWgRzfLgMR9wv17Bvcyb9P4mKLDekvM3D5KtxEE/79zF6pPioRlbyQbX
/Y734DB4mrENQKCaLVL5SNOCIYajEgL7GGVcBux8k2ZU/Mxif34/yeEax4QP7WVC
U0LSTQFCPxN2SdjXNKPlFT5bSArG3KWXx40LsaVEh6D+do3MaDZINjJ+JacA1qe4
4306e+DrI/+FEXcex9EcsjwK5TnB3tz40nEv7eBBt3ssdLp6ZeKVZPbHQHUIiVc2
veMt7R0CgYEAx/s4iP9hAlwxjSmn+7+cVOTE1+lo+SS62hKEqajw4kZErf1nu0CW
UYl7w9L9H5CBYsFHzdnXbeVwqicimSiFb3PTKgU0P2FrsCh+kLKBsK2ddZezhHr2
mXJnfVm9+6ayllfhWz7YHENfjSil3UohUIJ+jEw45jRUDBAZt9GLHJcCgYEAxiLh
iFyErXhZylk92dKdvMtY74CT3J4HrMqMcOqdt71IxSaYC6sZ8t/zY20dKM0dkxIS
2TuCmc1z7SB3dpbgc57KOZfJbSyphW6+xZlVJMEj9l/vFY1lXiWtbORfQV9+DzOi
bF6K/MwSv841v0dHI6NaupwAUH3K98fDZ7w8FNsCgYATQe7symLmHkirRlKl3IrK
ZglKnXB9ZXsU2umpiNpBf/DHLHrbvll7Wpjvf5befkTnZKNsgEjNjWWvDPu48fz/
gZDZIA0q+U+sdAnUF0yD3gQmucgQvuKWXjz3BjhUTnYuIiJSbhfTiO1fo4VtbOEO
ZrKXAhQMnwdk7fv8BpK12wKBgQC51BkmpW8iq0+7gnuKAglC+o0NA9CqB+U24Dlb
5g/KNlM75PiRaQZLTlOdmsbQb6AfQcI/z5qr2Y+yhNLGfLdCeVk9LukR5eOQa8+s
0CSU9jheaJd55UV/SWMgUAgu7frzEwBxFzLP6i5jimnKXnWQLTN49bstwu1L+yV/
84F+JQKBgQCIuLcr2/pFVF2K7SC4feVr4lP70/JTo28I3YrfZhF5FmUblJZjuCdb
AeMszJbik+M9MLtJO7qnlldGdHGNifn6k1T7kQNBDrrTPTZT52xvjvPzHgs4qR/W
wOEBX2Bk2yzaKFXXgdk/vUuvLvvRoPSZKginiv1RLB9E+ibBUYXVBg==
-----END RSA PRIVATE KEY-----`;
const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF\n-----END ENCRYPTED PRIVATE KEY-----';

test('a certificate says whose it is, for which names, by whom and until when', () => {
  const [one] = readPem(leaf).certificates;
  assert.equal(one!.subject, 'www.example.com');
  assert.equal(one!.issuer, 'Sample Issuing CA');
  assert.deepEqual(one!.names, ['www.example.com', 'example.com', '*.cdn.example.com', '203.0.113.7']);
  assert.equal(one!.from.toISOString(), '2026-11-22T19:06:53.000Z');
  assert.equal(one!.until.toISOString(), '2036-11-19T19:06:53.000Z');
  assert.equal(one!.isSelfSigned, false);
  assert.equal(readPem(root).certificates[0]!.isSelfSigned, true);
  assert.equal(readPem(rsa).certificates[0]!.subject, 'Sample', 'without a common name the organisation is named');
});

test('a chain is put in order, and what belongs to nothing is told', () => {
  const names = (text: string) => chainOf(readPem(text).certificates);
  const right = names([leaf, issuer, root].join('\n'));
  assert.deepEqual(
    right.ordered.map(one => one.subject),
    ['www.example.com', 'Sample Issuing CA', 'Sample Root'],
  );
  assert.equal(right.isMended, false);
  const wrong = names([root, leaf, issuer].join('\n'));
  assert.deepEqual(wrong.ordered, readPem([leaf, issuer, root].join('\n')).certificates);
  assert.equal(wrong.isMended, true);
  const stray = names([leaf, issuer, rsa].join('\n'));
  assert.deepEqual(
    stray.strays.map(one => one.subject),
    ['Sample'],
  );
  assert.deepEqual(chainOf([]).ordered, []);
});

test('the key is the certificate’s, another’s, or cannot be told', () => {
  const [one] = readPem(leaf).certificates;
  const is = (pem: string) => isKeyOf(one!, readPem(pem).keys[0]!);
  assert.equal(is(key), true, 'PKCS #8');
  assert.equal(is(otherKey), false, 'SEC 1');
  assert.equal(is(locked), undefined);
  assert.equal(is(rsa), false, 'of another kind');
  const own = readPem(rsa);
  assert.equal(isKeyOf(own.certificates[0]!, own.keys[0]!), true);
  assert.equal(isKeyOf(own.certificates[0]!, readPem(rsaOld).keys[0]!), true, 'PKCS #1');
});

test('what is no PEM, is cut off or is something else does no harm', () => {
  assert.deepEqual(readPem('nothing'), { certificates: [], keys: [], broken: [] });
  const lines = leaf.split('\n');
  const cut = [lines[0], ...lines.slice(1, 4), lines.at(-1)].join('\n');
  assert.deepEqual(readPem(cut).broken, ['CERTIFICATE']);
  for (let at = 40; at < leaf.length - 40; at += 7)
    assert.doesNotThrow(() => readPem(`${leaf.slice(0, at)}%${leaf.slice(at + 1)}`), `character ${at}`);
});
