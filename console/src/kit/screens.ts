/** An area as data: its pages and its menu. */
import type { ComponentType } from 'react';
import type { CallKey } from './client.ts';
import type { Area } from './area.ts';
import type { Needs } from './needs.ts';
import type { Params } from './resource.ts';
import type { Named, Part } from './text.ts';

export interface Screen {
  /** below the area; `{-$id}` is an optional parameter */
  path: string;
  load: () => Promise<{ default: ComponentType; sections?: readonly FoundTab[] }>;
  /** What this page cannot do without: whoever may make these calls may open it; left out: everybody signed in. */
  call?: Needs;
  /** Text `menu.<title>`. */
  title: Named<'menu'>;
  /** Where it stands in its section; in steps of ten, as the specification lists the pages. */
  order: number;
  /** Reached from another page, not from the menu. */
  hidden?: boolean;
  /** The page of the menu a hidden one belongs to. */
  below?: Named<'menu'>;
  /** Its file has `sections`, which the palette finds by their names and fields. Whose they are, the page knows by what was open last. */
  hasSections?: true;
}
export interface Section {
  /** Text `menu.<name>`; also the first segment of the addresses below. */
  name: Named<'menu'>;
  icon: IconName;
  screens: Screen[];
}
export interface AreaScreens {
  area: Area;
  sections: Section[];
}
/** A tab of a page whose tabs come from several folders. */
export interface Tab {
  name: Named<'tab'>;
  call: CallKey;
  Content: ComponentType<{ params: Params }>;
  /** Where it stands among the others. */
  order: number;
}
/** A tab that is looked for by the fields it has, too. */
export interface FoundTab extends Tab {
  finds?: readonly Named<'field'>[];
}
export type IconName = 'dashboard' | 'globe' | 'nodes' | 'chart' | 'people' | 'settings' | 'key' | 'package' | 'monitor';

/** Address of another page of this area, by its title; undefined when this area has no such page. */
export function linkTo(title: Screen['title'], ...parameters: (string | number)[]): string | undefined {
  const screen = screens && screensOf(screens).find(one => one.title === title);
  if (!screens || !screen) return undefined;
  return [`/${screens.area}/${screen.path.split('/{-$')[0]}`, ...parameters.map(one => encodeURIComponent(one))].join('/');
}

/** A screen whose words are loaded with it. Who loads them is said later, so that an area stays data which anything can read. */
export const withTexts =
  <T>(part: Part, load: () => Promise<T>) =>
  async (): Promise<T> =>
    (await Promise.all([load(), loadTexts(part)]))[0];

/** The page at an address of this area. */
export function screenAt(pathname: string): Screen | undefined {
  // a piece in the gallery stands in no area
  if (!screens) return undefined;
  const path = pathname.slice(screens.area.length + 2);
  return screensOf(screens).find(screen => path === screen.path || `${path}/`.startsWith(`${screen.path.split('/{-$')[0]!}/`));
}

export const screensOf = (screens: AreaScreens) => screens.sections.flatMap(section => section.screens);

let screens: AreaScreens | undefined;
let loadTexts: (part: Part) => Promise<void>;
/** The pages of the area this page is in, for the menu, the palette and the first page after signing in. */
export const currentScreens = () => screens!;
export const setScreens = (next: AreaScreens, load: typeof loadTexts) => {
  screens = next;
  loadTexts = load;
};
