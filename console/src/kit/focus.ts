/**
 * Nobody who works by keyboard is sent back to the top of the page: where what has the focus goes (a drawer that closes, a dialog that was
 * answered, a menu, a row that was removed, a button that another takes the place of), the focus goes to what opened it, and where that is
 * gone too, to what stands nearest to where it was. Whoever let go of it by a press elsewhere keeps it let go.
 */
const layers =
  '.ant-drawer, .ant-modal-wrap, .ant-dropdown, .ant-popover, .ant-picker-dropdown, .ant-select-dropdown, .notices, dialog';
const reachable = 'a[href], button, input:not([type=hidden]), select, textarea, [tabindex]:not([tabindex="-1"])';

/** Where the focus was: as long as it is, and when it is gone, what stood around it, innermost first. */
interface Place {
  at: HTMLElement;
  around: readonly { box: Element; nth: number }[];
  row: string | null;
  layer: Element | null;
}

/** What was in use when a layer took the focus, until it has left it for good; nothing was where it came by a shortcut. */
const openers = new Map<Element, Place | undefined>();

const isSeen = (one: Element) => one.isConnected && one.checkVisibility({ visibilityProperty: true });
const isFree = (one: Element) => isSeen(one) && !one.matches(':disabled') && !one.closest('[inert], [aria-hidden=true]');

function placeOf(at: HTMLElement): Place {
  const around = [];
  for (let one: Element = at; one.parentElement && one !== document.body; one = one.parentElement)
    around.push({ box: one.parentElement, nth: [...one.parentElement.children].indexOf(one) });
  return { at, around, row: rowOf(at)?.getAttribute('data-row-key') ?? null, layer: at.closest(layers) };
}
const rowOf = (at: Element) => at.closest('[data-row-key]');

const nameOf = (one: Element) => one.getAttribute('aria-label') ?? one.textContent;
/** In a part of the page: what does the same as what is gone, else the first that can be used. */
function within(part: Element | null | undefined, gone: Element): HTMLElement | undefined {
  if (!part) return undefined;
  const all = [part, ...part.querySelectorAll<HTMLElement>(reachable)].filter(
    (one): one is HTMLElement => one instanceof HTMLElement && one.matches(reachable) && isFree(one),
  );
  // where fingers type, the first field of a form would bring the keyboard over half of the page
  const isTouched = matchMedia('(pointer: coarse)').matches;
  return (
    all.find(one => one.tagName === gone.tagName && nameOf(one) === nameOf(gone)) ??
    all.find(one => !isTouched || !one.matches('input, textarea'))
  );
}

function nearest(place: Place | undefined): HTMLElement | null {
  const create = [...document.querySelectorAll<HTMLElement>('[data-create]')].find(isFree);
  const main = document.querySelector<HTMLElement>('main');
  if (!place) return create ?? main;
  const { at, around, row, layer } = place;
  if (isFree(at)) return at;
  // that of an empty list goes when its first row comes
  if (at.matches('[data-create]') && create) return create;
  for (const { box, nth } of around) {
    if (box === main || box === document.body) break;
    if (!isSeen(box)) continue;
    const same = row === null ? null : box.querySelector(`[data-row-key="${CSS.escape(row)}"]`);
    const found = within(same, at) ?? within(box.children[Math.min(nth, box.children.length - 1)], at);
    if (found) return found;
    if (box !== layer) continue;
    // an open drawer keeps what was in it
    const other = within(box, at);
    if (other) return other;
    break;
  }
  return layer && openers.has(layer) ? nearest(openers.get(layer)) : main;
}

/** The layer in which a place is, and those it was opened from. */
function layersOf(place: Place | undefined): Set<Element> {
  const found = new Set<Element>();
  for (let layer = place?.layer; layer && !found.has(layer); layer = openers.get(layer)?.layer) found.add(layer);
  return found;
}

/** Watches until the answer is called. */
export function keepFocus(): () => void {
  let now: Place | undefined;
  let isWorking = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // what takes the focus by itself comes first
  function check() {
    clearTimeout(timer);
    timer = setTimeout(look);
  }
  const enabled = new MutationObserver(check);
  function came({ target }: FocusEvent) {
    if (!(target instanceof HTMLElement) || target === document.body) return;
    const layer = target.closest(layers);
    // a question that closes over a drawer gives the focus back to it, and did not open it; where both want it, the first word counts
    if (layer && !openers.has(layer) && !layersOf(now).has(layer)) openers.set(layer, now);
    now = placeOf(target);
    isWorking = false;
    enabled.disconnect();
    check();
  }
  function look() {
    if (!now) return;
    if (!isLost()) {
      // what was left may be opened again, from elsewhere
      const open = layersOf(now);
      for (const layer of openers.keys()) if (!open.has(layer)) openers.delete(layer);
      return;
    }
    const { at } = now;
    if (isSeen(at) && at.matches(':disabled')) {
      // a button that works is back in a moment
      isWorking = true;
      return enabled.observe(at, { attributeFilter: ['disabled'] });
    }
    if (isSeen(at) && !isWorking) return void (now = undefined);
    const next = nearest(now);
    if (next?.tagName === 'MAIN') next.tabIndex = -1;
    next?.focus({ preventScroll: true });
  }
  const tree = new MutationObserver(() => now && isLost() && check());
  tree.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', came);
  document.addEventListener('focusout', check);
  return () => {
    tree.disconnect();
    enabled.disconnect();
    clearTimeout(timer);
    openers.clear();
    document.removeEventListener('focusin', came);
    document.removeEventListener('focusout', check);
  };
}

const isLost = () => !document.activeElement || document.activeElement === document.body;
