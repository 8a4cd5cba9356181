/** Short messages at the top of the page. Outside React, so that the transport can say why a session ended before a page is drawn. */
export interface Notice {
  id: number;
  level: 'success' | 'error' | 'info';
  text: string;
  action?: NoticeAction | undefined;
}
/** What can be done about it, while it stands. */
export interface NoticeAction {
  text: string;
  run: () => void;
}

const lifeMs = { success: 3000, info: 5000, error: 6000 };
/** Long enough to see that it was the wrong one. */
const actionLifeMs = 10_000;
let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

export const noticeStore = {
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  get: () => notices,
};

function change(next: readonly Notice[]) {
  notices = next;
  for (const listener of listeners) listener();
}
export const dismiss = (id: number) => change(notices.filter(notice => notice.id !== id));

function show(level: Notice['level'], text: string, action?: NoticeAction) {
  // The same sentence twice is one message: ten failed queries are one cut cable.
  change(notices.filter(notice => notice.text !== text).slice(-2));
  const id = ++last;
  change([...notices, { id, level, text, action }]);
  setTimeout(() => dismiss(id), action ? actionLifeMs : lifeMs[level]);
}

export const notify = {
  success: (text: string, action?: NoticeAction) => show('success', text, action),
  error: (text: string) => show('error', text),
  info: (text: string) => show('info', text),
};
