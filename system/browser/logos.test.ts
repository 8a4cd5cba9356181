/** Branding in a browser: the operator sees it before it is saved; who comes by that hostname sees it before and after the sign-in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const png = async (width: number, height: number, background: string) => ({
  name: 'a.png',
  mimeType: 'image/png',
  buffer: await sharp({ create: { width, height, channels: 4, background } })
    .png()
    .toBuffer(),
});
const svg = (inner: string) => ({
  name: 'a.svg',
  mimeType: 'image/svg+xml',
  buffer: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="60" viewBox="0 0 240 60">${inner}<circle cx="30" cy="30" r="24" fill="#e4572e"/><rect x="70" y="18" width="150" height="24" rx="6" fill="#f3d9b1"/></svg>`,
  ),
});

test('the operator sees a brand before it is saved; a picture with a script is refused at its field', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go('/client/userManagement/customizeLogo');
  await picture(page, 'logos-empty');
  await page.locator('[data-create]').first().click();
  await page.fill('.ant-drawer form #title', '浪花 CDN');
  await page.fill('.ant-drawer form #copyright', '© 浪花股份有限公司');
  await page.setInputFiles('[data-image=logo]', svg('<script>alert(1)</script>'));
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.locator('[data-field=logo] .ant-form-item-explain-error', { hasText: '這個 SVG 含有程式' }).waitFor();
  await page.setInputFiles('[data-image=logo]', svg(''));
  await page.setInputFiles('[data-image=sidebarLogo]', svg(''));
  await page.setInputFiles('[data-image=favicon]', await png(64, 64, '#e4572e'));
  await page.setInputFiles('[data-image=backgroundImage]', await png(1200, 1600, '#3d405b'));
  const preview = page.locator('.brand-preview');
  await preview.locator('.login-brand .brand-logo').waitFor();
  await preview.locator('.brand-preview-tab', { hasText: '浪花 CDN' }).waitFor();
  await page.locator('.ant-drawer-body').evaluate(body => body.scrollTo(0, 0));
  await picture(page, 'logos-form');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.locator('.ant-table-row', { hasText: '浪花 CDN' }).waitFor();
  await page.locator('.ant-table-row .logo-cell').waitFor();
  // what a browser says of the answer that refused the script
  assert.deepEqual(
    visitor.takeProblems().filter(one => !one.includes('400')),
    [],
  );
  await visitor.close();
});

for (const look of [
  { theme: 'light', width: 390, language: 'zh_TW' },
  { theme: 'dark', width: 1440, language: 'en_US' },
] as const)
  test(`who comes sees it before and after the sign-in, ${look.width}`, async () => {
    const visitor = await Visitor.open(stand.browser, stand.whole.origin, look);
    const { page } = visitor;
    await visitor.go('/user');
    assert.equal(await page.title(), '浪花 CDN');
    await page.locator('.brand-logo').locator('visible=true').first().waitFor();
    await page.locator('.login-copyright', { hasText: '© 浪花股份有限公司' }).waitFor();
    assert.match((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /^\/branding\/[0-9a-f]{64}\.png$/);
    await picture(page, `logos-login-${look.width}`);
    assert.ok(await page.evaluate(() => [...document.images].every(image => image.naturalWidth > 0)));
    await visitor.close();
    const inside = await stand.inside('user', look);
    await inside.go('/user/dashboard');
    assert.match(await inside.page.title(), / · 浪花 CDN$/);
    assert.equal(await inside.page.locator('.sider-brand .brand-logo').count(), 1);
    await picture(inside.page, `logos-inside-${look.width}`);
    assert.deepEqual(inside.takeProblems(), []);
    await inside.close();
  });
