/** Who may see which page (§2 Navigation guards, §4). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaOf } from '../src/kit/area.ts';
import { belongs, decide, firstPage, type Situation, wanted } from '../src/kit/guard.ts';

const at = (part: Partial<Situation>) => decide({ area: 'user', place: 'inside', hasSession: true, offlineMode: false, ...part });

test('a signed-in person on a login-type page goes to the dashboard', () => {
  assert.equal(at({ place: 'login' }), 'dashboard');
  assert.equal(at({ place: 'login', hasLoginData: true }), 'dashboard');
  assert.equal(at({ place: 'login', hasSession: false }), 'stay');
});

test('VerifyAccount without e-mail and password returns to the form', () => {
  assert.equal(at({ place: 'login', hasSession: false, hasLoginData: false }), 'login');
  assert.equal(at({ place: 'login', hasSession: false, hasLoginData: true }), 'stay');
});

test('switchUser and verifyMail are open to everybody, changePassword to people with a session', () => {
  for (const hasSession of [true, false]) assert.equal(at({ place: 'open', hasSession }), 'stay');
  assert.equal(at({ place: 'own' }), 'stay');
  assert.equal(at({ place: 'own', hasSession: false }), 'login');
});

test('without a session everything inside leads to the form', () => {
  assert.equal(at({ hasSession: false }), 'login');
  assert.equal(at({}), 'stay');
});

test('the admin area is closed only where the deployment is offline', () => {
  assert.equal(at({ area: 'admin' }), 'stay');
  for (const place of ['login', 'open', 'own', 'inside'] as const)
    assert.equal(at({ area: 'admin', place, offlineMode: true }), 'notFound');
  assert.equal(at({ area: 'client', offlineMode: true }), 'stay');
});

test('credentials of another area do not belong here', () => {
  assert.equal(belongs({ auth: 'client' }, 'client'), true);
  assert.equal(belongs({ auth: 'user' }, 'client'), false);
});

test('a client root without DNS starts at the DNS setting, once that page exists', () => {
  const root = { auth: 'client', isRoot: true, dnsType: null } as const;
  assert.equal(
    firstPage(root, 'client', () => true),
    '/client/systemManagement/dnsSetting',
  );
  assert.equal(
    firstPage(root, 'client', () => false),
    '/client/dashboard',
  );
  assert.equal(
    firstPage({ ...root, dnsType: 'knot' }, 'client', () => true),
    '/client/dashboard',
  );
  assert.equal(
    firstPage({ ...root, isRoot: false }, 'client', () => true),
    '/client/dashboard',
  );
  assert.equal(
    firstPage({ ...root, auth: 'user' }, 'user', () => true),
    '/user/dashboard',
  );
});

test('the page wanted before signing in is one of this area and of this host', () => {
  assert.equal(wanted('/client/nodeManage/nodesList?page=2', 'client'), '/client/nodeManage/nodesList?page=2');
  for (const other of [
    '/user/dashboard',
    '//evil.example/client/x',
    'https://evil.example',
    '/client//evil.example',
    '/clientele/x',
    undefined,
    7,
  ])
    assert.equal(wanted(other, 'client'), undefined);
});

test('the area is the first segment of the address, user where there is none', () => {
  assert.equal(areaOf('/client/nodeManage'), 'client');
  assert.equal(areaOf('/admin'), 'admin');
  assert.equal(areaOf('/'), 'user');
  assert.equal(areaOf('/404'), 'user');
});
