/**
 * One form for several rows. What they all have stands in it as it is; where they differ it says so, and leaves them as they are until
 * the person overwrites them. Nothing is sent before something was chosen.
 */
import { useState } from 'react';
import { type FormProps, ResourceForm } from './form.tsx';
import { together } from './row-values.ts';
import type { Row, Values } from './resource.ts';

type Props<R> = Omit<FormProps, 'values' | 'mixed' | 'isEdit' | 'wrap'> & {
  rows: readonly R[];
  /** Form values of one row. */
  valuesOf: (row: R) => Values;
};

export function BatchForm<R extends Row>({ rows, valuesOf, ...form }: Props<R>) {
  // as the rows were when the form was opened
  const [{ values, mixed }] = useState(() => together(rows.map(valuesOf), form.fields));
  const [draftOf] = useState(() =>
    rows
      .map(row => row.id)
      .sort((a, b) => a - b)
      .join(),
  );
  return <ResourceForm {...form} values={values} mixed={mixed} draftOf={draftOf} isEdit />;
}
