import type { App } from '../kit/text.ts';
export default { 'menu.dashboard': 'Dashboard' } satisfies App;
