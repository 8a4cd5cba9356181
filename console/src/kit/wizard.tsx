/** One thing after the other: steps that are checked before the next one opens, and can be gone back to with all that was typed. */
import './wizard.css';
import { Button } from 'antd';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { t } from './text.ts';

export interface Step {
  name: string;
  title: string;
  /** Stays mounted once it was seen: going back finds what was typed. */
  content: ReactNode;
  /** What stands in the way of the next step; undefined: nothing. */
  check?: () => string | undefined | Promise<string | undefined>;
}
export interface WizardProps {
  label: string;
  steps: readonly Step[];
  /** The word on the last button. */
  finish: string;
  /** Answers whether it went well; the caller says why not. */
  onFinish: () => Promise<boolean>;
  /** Why it cannot be finished now. */
  why?: string;
}

export function Wizard({ label, steps, finish, onFinish, why }: WizardProps) {
  const [at, setAt] = useState(0);
  const [furthest, setFurthest] = useState(0);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  const step = steps[at]!;
  const isLast = at === steps.length - 1;

  // another step is another page: whoever reads it begins at its heading
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [at]);

  function go(to: number) {
    setProblem(undefined);
    setAt(to);
    setFurthest(Math.max(furthest, to));
  }
  async function next() {
    if (isBusy) return;
    setBusy(true);
    try {
      const found = await step.check?.();
      setProblem(found);
      if (found !== undefined) return;
      if (!isLast) go(at + 1);
      else await onFinish();
    } finally {
      setBusy(false);
    }
  }
  return (
    <section className="wizard" aria-label={label}>
      <ol className="wizard-steps">
        {steps.map((one, index) => (
          <li key={one.name} aria-current={index === at ? 'step' : undefined} className={index < at ? 'wizard-done' : undefined}>
            {/* forward only by the button that checks */}
            <button type="button" disabled={index > at || isBusy} onClick={() => go(index)}>
              <span className="wizard-number" aria-hidden>
                {index < at ? '✓' : index + 1}
              </span>
              <span className="wizard-title">{one.title}</span>
              {index < at && <span className="unseen">{t('wizard.done')}</span>}
            </button>
          </li>
        ))}
      </ol>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (!isLast || why === undefined) void next();
        }}
      >
        <h3 ref={heading} tabIndex={-1}>
          {step.title} <small className="ink-3">{t('wizard.at', { place: at + 1, count: steps.length })}</small>
        </h3>
        {steps.slice(0, furthest + 1).map((one, index) => (
          <div key={one.name} hidden={index !== at}>
            {one.content}
          </div>
        ))}
        {problem !== undefined && (
          <p className="piece-wrong" role="alert">
            {problem}
          </p>
        )}
        <footer className="wizard-foot">
          {isLast && why !== undefined && <span className="why">{why}</span>}
          <span className="grow" />
          <Button disabled={at === 0 || isBusy} onClick={() => go(at - 1)}>
            {t('wizard.back')}
          </Button>
          <Button type="primary" htmlType="submit" loading={isBusy} aria-disabled={isBusy} disabled={isLast && why !== undefined}>
            {isLast ? finish : t('wizard.next')}
          </Button>
        </footer>
      </form>
    </section>
  );
}
