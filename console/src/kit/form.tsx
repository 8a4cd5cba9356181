/** The form of a row, in a drawer. Its code and the contract's schemas come when the first form opens: a list is looked at far more often. */
import type { FormProps } from './form-drawer.tsx';
import { later } from './later.tsx';
import type { FormField, Values } from './resource.ts';

export type { FormProps };

export const ResourceForm = later<FormProps>(async () => (await import('./form-drawer.tsx')).FormDrawer);

/** Values of a new row. */
export const initialValues = (fields: readonly FormField[]): Values =>
  Object.fromEntries(fields.filter(field => field.initial !== undefined).map(field => [field.name, initialOf(field)]));
/** One that is a time from now is made when the form opens, not when the page was loaded. */
export const initialOf = ({ initial }: FormField): unknown => (typeof initial === 'function' ? initial() : initial);
