/** Why a piece cannot be used: it stands below it, and a screen reader says it with the piece. */
import { type ReactNode, useId } from 'react';

/** What pieces for input have in common. */
export interface InputLook {
  id?: string;
  /** It cannot be changed now, and this is the reason. */
  why?: string;
  /** It may be looked at alone. */
  isReadOnly?: boolean;
  'aria-label'?: string;
  'aria-invalid'?: boolean | 'true' | 'false';
  'aria-describedby'?: string;
}

export const isInvalid = (look: InputLook): boolean => look['aria-invalid'] === true || look['aria-invalid'] === 'true';

export function WithWhy({
  why,
  children,
}: {
  why: string | undefined;
  children: (describedBy: string | undefined) => ReactNode;
}) {
  const id = useId();
  return (
    <>
      {children(why === undefined ? undefined : id)}
      {why !== undefined && (
        <small id={id} className="why">
          {why}
        </small>
      )}
    </>
  );
}
