import type { App } from '../kit/text.ts';
export default { 'menu.dashboard': '总览' } satisfies App;
