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

function heard(event: KeyboardEvent) {
  if (event.isComposing || event.altKey || event.repeat) return;
  const isCommand = event.metaKey || event.ctrlKey;
  const target = event.target as HTMLElement | null;
  const isTyping = !!target?.closest('input, textarea, select, [contenteditable]');
  if (!isCommand && (isTyping || document.querySelector('[role="dialog"], dialog[open]'))) return;
  const task = tasks.get(isCommand ? `mod+${event.key.toLowerCase()}` : event.key.toLowerCase())?.at(-1);
  if (!task) return;
  event.preventDefault();
  task();
}
globalThis.addEventListener?.('keydown', heard);
// A list of choices would take ⌘Enter as Enter, and what is saved were another choice than the one on screen. Words typed there it has to take.
globalThis.addEventListener?.(
  'keydown',
  event => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || !(event.target instanceof Element)) return;
    if (!event.target.matches('.ant-select [role="combobox"]') || event.target.closest('.typed-words')) return;
    event.stopPropagation();
    heard(event);
  },
  true,
);

export const commandKey = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '') ? '⌘' : 'Ctrl';
