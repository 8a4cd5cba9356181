/** Keys: `/` searches, `c` creates, `r` asks again, ⌘K finds. Never while somebody types or a dialog is open. */
type Task = () => void;
const tasks = new Map<string, Task[]>();

/** Binds a key until the answer is called; the last who asked gets it. */
export function shortcut(key: string, task: Task): () => void {
  tasks.set(key, [...(tasks.get(key) ?? []), task]);
  return () =>
    void tasks.set(
      key,
      (tasks.get(key) ?? []).filter(one => one !== task),
    );
}

globalThis.addEventListener?.('keydown', event => {
  if (event.isComposing || event.altKey || event.repeat) return;
  const isCommand = event.metaKey || event.ctrlKey;
  const target = event.target as HTMLElement | null;
  const isTyping = !!target?.closest('input, textarea, select, [contenteditable]');
  if (!isCommand && (isTyping || document.querySelector('[role="dialog"], dialog[open]'))) return;
  const task = tasks.get(isCommand ? `mod+${event.key.toLowerCase()}` : event.key.toLowerCase())?.at(-1);
  if (!task) return;
  event.preventDefault();
  task();
});

export const commandKey = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '') ? '⌘' : 'Ctrl';
