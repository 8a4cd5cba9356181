/**
 * One form for several rows. What they all have stands in it as it is; where they differ it says so, and leaves them as they are until
 * the person overwrites them. Nothing is sent before something was chosen.
 */
import { useState } from 'react';
import { type FormProps, ResourceForm } from './form.tsx';
import { together } from './row-values.ts';
import type { Values } from './resource.ts';

type Props<Row> = Omit<FormProps, 'values' | 'mixed' | 'isEdit' | 'wrap' | 'children'> & {
  rows: readonly Row[];
  /** Form values of one row. */
  valuesOf: (row: Row) => Values;
};

export function BatchForm<Row>({ rows, valuesOf, ...form }: Props<Row>) {
  // as the rows were when the form was opened
  const [{ values, mixed }] = useState(() => together(rows.map(valuesOf), form.fields));
  return <ResourceForm {...form} values={values} mixed={mixed} isEdit />;
}
