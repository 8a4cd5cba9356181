/** Inputs of the login-type pages: the browser's own, with a label and an error each. */
import { type InputHTMLAttributes, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../kit/text.ts';

export interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'id'> {
  name: string;
  label: string;
  error?: string;
  /** What it must be; what is wrong with it takes its place. */
  rules?: ReactNode;
}

export function Field({ label, error, rules, type, ...input }: FieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  const isPassword = type === 'password';
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="field-box">
        <input
          id={id}
          type={isPassword && isShown ? 'text' : type}
          aria-invalid={!!error}
          aria-describedby={error || rules ? `${id}-said` : undefined}
          {...input}
        />
        {isPassword && (
          <button
            type="button"
            className="field-eye"
            aria-label={t(isShown ? 'login.hidePassword' : 'login.showPassword')}
            onClick={() => setShown(!isShown)}
          >
            <svg width="18" height="18" viewBox="0 0 18 18" fill="none" stroke="currentColor" strokeWidth="1.4" aria-hidden>
              <path d="M1.5 9S4 3.800 9 3.800 16.500 9 16.500 9 14 14.200 9 14.200 1.500 9 1.500 9Z" />
              <circle cx="9" cy="9" r="2.400" />
              {!isShown && <path d="M3 15 15 3" />}
            </svg>
          </button>
        )}
      </div>
      {(error || rules) && (
        <div className={error ? 'field-error' : undefined} id={`${id}-said`}>
          {error || rules}
        </div>
      )}
    </div>
  );
}

interface PressProps {
  isBusy: boolean;
  /** without it the form is sent */
  onPress?: () => void;
  children: ReactNode;
}
/** It keeps the focus while it works: a disabled one would leave whoever came by key nowhere. */
export function Press({ isBusy, onPress, children }: PressProps) {
  return (
    <button
      type={onPress ? 'button' : 'submit'}
      className={`button ${onPress ? 'button-plain' : 'button-primary button-block'}`}
      aria-disabled={isBusy}
      aria-busy={isBusy}
      onClick={isBusy ? undefined : onPress}
    >
      {children}
    </button>
  );
}

type Errors = Record<string, string | undefined>;

/** What the server says of fields, by their names; what it says else is for a message at the top (said.ts). */
export class FieldErrors extends Error {
  readonly fields: Errors;
  constructor(fields: Errors) {
    super('fields');
    this.fields = fields;
  }
}

/**
 * A form that speaks as the drawers do (kit/form-state.ts, which the first page does not load): a field that was filled in is judged when
 * it is left, one that has spoken with every change, all of them once a submit was refused; what the server said of a field stands until
 * its value changes. One submit at a time; the first broken field is focused, and `again` when the server refused the whole: what is in it
 * is chosen, so that it is typed anew. `send` answers whether it went well.
 */
export function useSubmit<Name extends string>(
  check: (values: Record<Name, string>) => Partial<Record<Name, string>>,
  send: (values: Record<Name, string>) => Promise<boolean>,
  again: Name,
) {
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const [typed, setTyped] = useState<Partial<Record<string, string>>>({});
  const heard = useRef({
    speaking: new Set<string>(),
    isAsked: false,
    answers: new Map<string, { text: string; value: string }>(),
  });
  const pressing = useRef(false);

  const valuesNow = () => Object.fromEntries(new FormData(form.current!)) as Record<Name, string>;
  function judge(): string | undefined {
    const values = valuesNow();
    const found = check(values) as Errors;
    const { speaking, isAsked, answers } = heard.current;
    const shown: Errors = {};
    for (const name of Object.keys(values)) {
      const answer = answers.get(name);
      if (answer && answer.value !== values[name as Name]) answers.delete(name);
      if (found[name] && (isAsked || speaking.has(name))) shown[name] = found[name];
      else shown[name] = answers.get(name)?.text;
    }
    setErrors(shown);
    return Object.keys(shown).find(name => shown[name]);
  }
  const inputOf = (name: string) => form.current?.elements.namedItem(name) as HTMLInputElement | null | undefined;
  const focus = (name: string) => inputOf(name)?.focus();

  async function onSubmit(event: React.FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isBusy) return;
    heard.current.isAsked = true;
    const first = judge();
    if (first) return focus(first);
    const values = valuesNow();
    setBusy(true);
    try {
      if (!(await send(values))) {
        focus(again);
        inputOf(again)?.select();
      }
    } catch (error) {
      if (!(error instanceof FieldErrors)) throw error;
      for (const [name, text] of Object.entries(error.fields))
        if (text) heard.current.answers.set(name, { text, value: values[name as Name] });
      const refused = form.current && judge();
      if (refused) setTimeout(() => focus(refused));
    } finally {
      setBusy(false);
    }
  }
  function onInput() {
    judge();
    setTyped(valuesNow());
  }
  function onBlur({ target }: React.FocusEvent<HTMLFormElement>) {
    const { name, value } = target as unknown as HTMLInputElement;
    if (name && value) heard.current.speaking.add(name);
    // A sentence that appears between the press and the release of a button moves the button away from under the finger.
    // A field that goes with its form is left, too.
    if (!pressing.current && form.current) judge();
  }
  useEffect(() => {
    const press = () => void (pressing.current = true);
    const release = () => {
      pressing.current = false;
      setTimeout(() => form.current && judge());
    };
    document.addEventListener('pointerdown', press, true);
    document.addEventListener('pointerup', release, true);
    document.addEventListener('pointercancel', release, true);
    return () => {
      document.removeEventListener('pointerdown', press, true);
      document.removeEventListener('pointerup', release, true);
      document.removeEventListener('pointercancel', release, true);
    };
    // oxlint-disable-next-line react/exhaustive-deps -- what is judged is read from the form when it is asked for
  }, []);
  return {
    errors,
    isBusy,
    /** what stands in the fields by now */
    typed,
    form: { ref: form, onSubmit, onBlur, onInput, noValidate: true } as const,
    isFilled: () => !!form.current && Object.values<string>(valuesNow()).some(Boolean),
  };
}
