/** When a field speaks, what can be mended, what is kept of a form whose session ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mendDomainName, mendOrigin } from '#contract/rules/mend.ts';
import { withoutSecrets } from '../src/kit/drafts.ts';
import { changedFields, FormState, isSame } from '../src/kit/form-state.ts';
import {
  emptied,
  filledLines,
  lineInText,
  mergeRows,
  mergeValues,
  overwriting,
  saySame,
  together,
} from '../src/kit/row-values.ts';
import type { FormField } from '../src/kit/resource.ts';

const nameWrong = [{ name: ['name'], text: 'wrong' }];
const nothing = () => undefined;
const said = (
  state: FormState,
  problems: { name: (string | number)[]; text: string }[],
  valueAt: (name: unknown) => unknown = nothing,
) => Object.fromEntries(state.shown(problems, valueAt));

test('an untouched empty field is quiet when it is left; one that was emptied is not', () => {
  const state = new FormState();
  state.left(['name'], '');
  assert.deepEqual(said(state, nameWrong), {});
  state.typed(['name']);
  assert.deepEqual(said(state, nameWrong), {}, 'not while it is being typed for the first time');
  state.left(['name'], '');
  assert.deepEqual(said(state, nameWrong), { name: 'wrong' });
});

test('a field that has spoken is judged with every change, others wait until they are left', () => {
  const state = new FormState();
  state.left(['name'], 'x');
  assert.deepEqual(said(state, [...nameWrong, { name: ['port'], text: 'too big' }]), { name: 'wrong' });
  assert.deepEqual(said(state, []), {}, 'mended: quiet at once');
  assert.deepEqual(said(state, nameWrong), { name: 'wrong' }, 'broken again: said at once');
});

test('after a refused save every field speaks, one sentence each', () => {
  const state = new FormState();
  state.asked();
  assert.deepEqual(said(state, [...nameWrong, { name: ['name'], text: 'also' }, { name: ['port'], text: 'too big' }]), {
    name: 'wrong',
    port: 'too big',
  });
});

test('what the server said stands until that value changes, whatever happens to the others', () => {
  const state = new FormState();
  let name = 'taken';
  const valueAt = () => name;
  state.answered(['name'], 'exists already', name);
  assert.deepEqual(said(state, [], valueAt), { name: 'exists already' });
  state.typed(['port']);
  assert.deepEqual(said(state, [], valueAt), { name: 'exists already' });
  name = 'taken2';
  assert.deepEqual(said(state, [], valueAt), {});
  name = 'taken';
  assert.deepEqual(said(state, [], valueAt), {}, 'it may have been freed: the server is asked again');
  state.answered(['name'], 'its record is missing', name);
  state.unsay(['port']);
  assert.deepEqual(said(state, [], valueAt), { name: 'its record is missing' });
  state.unsay(['name']);
  assert.deepEqual(said(state, [], valueAt), {}, 'the record was found since');
});

test('a removed row takes what was known of it along, and the rows behind keep theirs', () => {
  const state = new FormState();
  for (const row of [0, 1, 2]) state.left(['rows', row, 'address'], 'x');
  state.answered(['rows', 2, 'port'], 'in use', 80);
  state.withoutRow(['rows'], 1);
  const wrong = [0, 1, 2].map(row => ({ name: ['rows', row, 'address'], text: `row ${row}` }));
  assert.deepEqual(
    said(state, wrong, () => 80),
    {
      'rows.0.address': 'row 0',
      'rows.1.address': 'row 1',
      'rows.1.port': 'in use',
    },
  );
});

test('a change is told by the names of the fields it touched', () => {
  const fields = ['name', 'ips', 'upstreams', 'upstreams.*.address', 'upstreams.*.port'];
  assert.deepEqual(changedFields({ name: 'x' }, fields), [['name']]);
  assert.deepEqual(changedFields({ ips: ['1', '2'] }, fields), [['ips']]);
  // oxlint-disable-next-line no-sparse-arrays -- so antd tells it
  assert.deepEqual(changedFields({ upstreams: [, { port: 1 }] }, fields), [['upstreams', 1, 'port']]);
});

test('a form is as it was when only emptiness is spelled otherwise', () => {
  assert.ok(isSame({ a: '', b: [1, { c: null }] }, { b: [1, {}] }));
  assert.ok(!isSame({ a: [1, 2] }, { a: [1] }));
  assert.ok(!isSame({ a: 0 }, { a: '' }));
  assert.ok(!isSame({ a: false }, {}));
});

test('what people paste becomes what the rules ask for', () => {
  const names: [string, string][] = [
    ['  Shop.Example.COM. ', 'shop.example.com'],
    ['https://Shop.example.com/path?x#y', 'shop.example.com'],
    ['//shop.example.com:8443', 'shop.example.com'],
    ['*.Example.com', '*.example.com'],
    ['shop.example.com/path', 'shop.example.com'],
    ['not a name', 'not a name'],
  ];
  for (const [typed, name] of names) assert.equal(mendDomainName(typed), name);
  const origins: [string, object][] = [
    ['http://192.0.2.1:8080/', { address: '192.0.2.1', port: 8080, protocol: 'http' }],
    ['192.0.2.1:8080', { address: '192.0.2.1', port: 8080 }],
    ['[2001:DB8::1]:443', { address: '2001:db8::1', port: 443 }],
    ['2001:DB8::1', { address: '2001:db8::1' }],
    ['HTTPS://Origin.Test.', { address: 'origin.test', protocol: 'https' }],
    [' origin.test ', { address: 'origin.test' }],
    ['a b:c', { address: 'a b:c' }],
  ];
  for (const [typed, origin] of origins) assert.deepEqual(mendOrigin(typed), origin);
});

test('no password is kept for after the sign-in', () => {
  const fields = [
    { name: 'email', kind: 'text' },
    { name: 'password', kind: 'password' },
  ] as never;
  assert.deepEqual(withoutSecrets(fields, { email: 'a@b.test', password: 'secret' }), { email: 'a@b.test' });
  const certificate = '-----BEGIN CERTIFICATE-----';
  const pasted = [
    { name: 'certificate', kind: 'textarea' },
    { name: 'several', kind: 'textarea' },
  ] as never;
  const both = `${certificate}\n-----BEGIN EC PRIVATE KEY-----`;
  assert.deepEqual(withoutSecrets(pasted, { certificate, several: [{ text: both }] }), { certificate });
  assert.deepEqual(withoutSecrets(pasted, { certificate: both }), {});
});

const batch: FormField[] = [
  { name: 'tags', kind: 'tags', initial: [] },
  { name: 'balance', kind: 'segments', values: ['roundRobin', 'ipHash'], initial: 'roundRobin' },
];

test('of several rows the form has what they have together, and what they differ in with how many have it', () => {
  const rows = [
    { tags: ['a'], balance: 'ipHash' },
    { tags: [], balance: 'ipHash' },
    { tags: undefined, balance: 'ipHash' },
  ];
  assert.deepEqual(together(rows, batch), {
    values: { balance: 'ipHash' },
    mixed: {
      tags: [
        { value: [], count: 2 },
        { value: ['a'], count: 1 },
      ],
    },
  });
  assert.deepEqual(together([rows[0]!], batch), { values: rows[0], mixed: {} });
  assert.deepEqual(batch.map(overwriting), [[], undefined], 'a choice is never made for the person');
});

test('what a row had and would be left out of its PUT is named; an empty text is sent as it is', () => {
  const fields: FormField[] = [
    { name: 'times', kind: 'number' },
    { name: 'memo', kind: 'text' },
    {
      name: 'upstreams',
      kind: 'list',
      add: 'create',
      template: () => ({ address: '', port: 80 }),
      fields: [{ name: 'port', kind: 'number' }],
    },
  ];
  const before = { times: 5, memo: 'old', upstreams: [{ port: 81 }] };
  assert.deepEqual(emptied(fields, before, { times: undefined, memo: '', upstreams: [{ port: 81 }, { port: undefined }] }), [
    ['times'],
    ['upstreams', 1, 'port'],
  ]);
  assert.deepEqual(emptied(fields, { memo: 'old' }, { times: undefined, memo: 'new' }), [], 'nothing was there');
});

test('blank lines are not sent, and count where a line is named', () => {
  const typed = ['a', '', '  ', ' b ', ''];
  assert.deepEqual(filledLines(typed), ['a', 'b']);
  assert.deepEqual([lineInText(typed, 1), lineInText(typed, 2)], [1, 4]);
  assert.deepEqual([filledLines(undefined), isSame(['', ' '], [])], [[], true]);
});

test('what was typed stands on top of what others did meanwhile: nothing of either is lost', () => {
  const base = [
    { id: 1, address: 'a', weight: 1 },
    { id: 2, address: 'b', weight: 1 },
    { id: 3, address: 'c', weight: 1 },
  ];
  // here: the weight of 1 changed, 2 taken away, one added
  const mine = [
    { id: 1, address: 'a', weight: 9 },
    { id: 3, address: 'c', weight: 1 },
    { address: 'new', weight: 1 },
  ];
  // there: the address of 1 changed, 4 added
  const now = [{ id: 1, address: 'A', weight: 1 }, ...base.slice(1), { id: 4, address: 'd', weight: 1 }];
  assert.deepEqual(mergeRows(base, mine, now), [
    { id: 1, address: 'A', weight: 9 },
    { id: 3, address: 'c', weight: 1 },
    { id: 4, address: 'd', weight: 1 },
    { address: 'new', weight: 1 },
  ]);
  // a row that is gone stays gone where it was left alone, and comes back as a new one where it was changed
  assert.deepEqual(mergeRows(base, [{ id: 1, address: 'a', weight: 9 }, ...base.slice(1)], [base[1]!]), [
    base[1],
    { address: 'a', weight: 9 },
  ]);
  assert.deepEqual(mergeRows(base, base, now), now);
  // what was added here and stands now came with a save whose answer was lost, once for each; of one that stood before it is another
  const added = { address: 'new', weight: 1 };
  const lost = [...base, { id: 5, ...added }];
  assert.deepEqual(mergeRows(base, [...base, added], lost), lost);
  assert.deepEqual(mergeRows(base, [...base, added, added], lost), [...lost, added]);
  assert.deepEqual(mergeRows(lost, [...lost, added], lost), [...lost, added]);
  assert.ok(saySame([{ id: 1, a: 1, b: 2 }, { a: 3 }], [{ a: 3 }, { b: 2, a: 1, id: 9 }]));
  assert.ok(!saySame([{ a: 1 }, { a: 1 }], [{ a: 1 }]));
});

test('of a draft what was left alone is as it stands now', () => {
  const base = { name: 'old', memo: '', upstreams: [{ id: 1, weight: 1 }] };
  const now = {
    name: 'renamed',
    memo: '',
    upstreams: [
      { id: 1, weight: 1 },
      { id: 2, weight: 1 },
    ],
  };
  assert.deepEqual(mergeValues(base, { ...base, memo: 'typed' }, now), { ...now, memo: 'typed' });
  assert.deepEqual(mergeValues(base, { ...base, upstreams: [{ id: 1, weight: 5 }] }, now), {
    ...now,
    upstreams: [
      { id: 1, weight: 5 },
      { id: 2, weight: 1 },
    ],
  });
  assert.deepEqual(mergeValues({}, { lines: ['a', 'b'] }, {}), { lines: ['a', 'b'] });
});
