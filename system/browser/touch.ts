/** What a telephone asks of a page: nothing reaches beyond its edge, and what is pressed has room for a finger. */
import type { Page } from 'playwright-core';

export const touchPx = 44;

/** Elements that reach beyond the window and are not scrolled inside something that does not. */
export const wide = (page: Page, within = 'body'): Promise<string[]> =>
  page.evaluate(part => {
    const width = document.documentElement.clientWidth;
    const isClipped = (one: Element): boolean => {
      for (let up = one.parentElement; up && up !== document.body; up = up.parentElement) {
        const { overflowX } = getComputedStyle(up);
        if (overflowX !== 'visible' && up.getBoundingClientRect().right <= width + 1) return true;
      }
      return false;
    };
    return [...document.querySelectorAll(`${part} *`)]
      .filter(one => {
        const box = one.getBoundingClientRect();
        return box.width > 1 && box.right > width + 1 && getComputedStyle(one).position !== 'fixed' && !isClipped(one);
      })
      .map(one => `${one.closest('[data-piece]')?.getAttribute('data-piece') ?? ''} ${one.outerHTML.slice(0, 120)}`)
      .slice(0, 10);
  }, within);

/**
 * What can be pressed and is less than 44 px wide or high. What counts is where a press lands: a small button may have a larger border
 * around it that belongs to it. A link in a sentence is as high as its line; what cannot be pressed now needs no room.
 */
export const cramped = (page: Page, within = 'body'): Promise<string[]> =>
  page.evaluate(
    ([part, least]) => {
      const pressed =
        'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=checkbox], [role=switch], [role=tab], [role=slider], [role=option], .ant-segmented-item, .ant-select';
      // what a small element lies in and what a press on it means
      const around =
        '.ant-segmented-item, .ant-select, .ant-picker, .ant-input-affix-wrapper, .ant-input-number, .ant-checkbox-wrapper, .ant-radio-wrapper, .ant-pagination-item, .ant-pagination-prev, .ant-pagination-next, label';
      const seen = new Set<Element>();
      const found: string[] = [];
      for (const one of document.querySelectorAll<HTMLElement>(`${part} :is(${pressed})`)) {
        const target = one.closest<HTMLElement>(around) ?? one;
        if (seen.has(target) || one.closest('[aria-hidden=true], .offscreen, [inert]')) continue;
        seen.add(target);
        const box = target.getBoundingClientRect();
        const style = getComputedStyle(target);
        if (!box.width || !box.height || style.visibility === 'hidden' || one.matches(':disabled')) continue;
        const isInSentence =
          target.matches('a') && style.display === 'inline' && target.parentElement!.matches('p, small, span, li');
        if (isInSentence) continue;
        // a hair less is a matter of rounding
        if (box.width >= least - 0.5 && box.height >= least - 0.5) continue;
        target.scrollIntoView({ block: 'center', inline: 'center' });
        const { left, top, width, height } = target.getBoundingClientRect();
        const [x, y, reach] = [left + width / 2, top + height / 2, least / 2 - 1];
        const isIts = (dx: number, dy: number) => {
          const hit = document.elementFromPoint(x + dx, y + dy);
          return hit !== null && target.contains(hit);
        };
        const isHigh = height >= least - 0.5 || (isIts(0, -reach) && isIts(0, reach));
        const isWide = width >= least - 0.5 || (isIts(-reach, 0) && isIts(reach, 0));
        if (!isHigh || !isWide)
          found.push(
            `${one.closest('[data-piece]')?.getAttribute('data-piece') ?? ''} ${Math.round(width)}×${Math.round(height)} ${one.outerHTML.slice(0, 130)}`,
          );
      }
      return found;
    },
    [within, touchPx] as const,
  );
