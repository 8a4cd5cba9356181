export const app = { 'menu.dashboard': '總覽' } as const;
export default app;
