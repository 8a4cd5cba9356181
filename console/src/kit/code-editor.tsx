/**
 * Code with numbered lines and colours. It is CodeMirror, with the keys of its own (Mod-[ and Mod-] indent) and without Tab: that goes on
 * to the next field, as everywhere. It grows with what is in it, up to a screen; lines break instead of running out of sight.
 */
import './code-editor.css';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentUnit, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers, placeholder as placeholderOf } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { useEffect, useRef, useState } from 'react';
import { type CodeLanguage, codeLanguages } from './code-language.ts';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

export interface CodeEditorProps extends InputLook {
  language: CodeLanguage;
  value?: string;
  onChange?: (value: string) => void;
  placeholder?: string;
  /** It takes the focus when it is drawn, with this selected: what somebody types next replaces what it would have replaced before. */
  selected?: { anchor: number; head: number } | undefined;
}

// what CodeMirror writes into style tags is allowed by the page's nonce alone
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
const indent = '  ';

export function CodeEditor(props: CodeEditorProps) {
  return <WithWhy why={props.why}>{describedBy => <Editor {...props} describedBy={describedBy} />}</WithWhy>;
}

function Editor(props: CodeEditorProps & { describedBy: string | undefined }) {
  const { language, value = '', placeholder, why, isReadOnly = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const [attributes] = useState(() => new Compartment());
  const wasFocused = useRef(false);
  const change = useRef(props.onChange);
  useEffect(() => void (change.current = props.onChange));
  const isFixed = isReadOnly || why !== undefined;
  const spoken: Record<string, string> = {
    ...(props.id && { id: props.id }),
    'aria-label': props['aria-label'] ?? language,
    // it takes the focus by itself, but not everything that looks at a page knows that
    tabindex: '0',
    ...(isInvalid(props) && { 'aria-invalid': 'true' }),
    ...(isFixed && { 'aria-readonly': 'true' }),
    ...(why !== undefined && { 'aria-disabled': 'true' }),
  };
  const describedBy = [props['aria-describedby'], props.describedBy].filter(Boolean).join(' ');
  if (describedBy) spoken['aria-describedby'] = describedBy;
  const said = JSON.stringify(spoken);

  useEffect(() => {
    const extensions: Extension[] = [
      EditorView.cspNonce.of(nonce),
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      indentUnit.of(indent),
      // without a type: each of them has a state of its own
      StreamLanguage.define(codeLanguages[language] as never),
      syntaxHighlighting(classHighlighter),
      EditorView.lineWrapping,
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorState.readOnly.of(isFixed),
      // what stands in `said` is this object, said above
      attributes.of(EditorView.contentAttributes.of(JSON.parse(said) as Record<string, string>)),
      EditorView.updateListener.of(update => update.docChanged && change.current?.(update.state.doc.toString())),
      ...(placeholder ? [placeholderOf(placeholder)] : []),
    ];
    const made = new EditorView({
      parent: box.current!,
      state: EditorState.create({ doc: view.current?.state.doc ?? value, extensions }),
    });
    view.current = made;
    if (props.selected && !wasFocused.current) {
      const within = (at: number) => Math.min(at, made.state.doc.length);
      made.dispatch({ selection: { anchor: within(props.selected.anchor), head: within(props.selected.head) } });
      made.focus();
      wasFocused.current = true;
    }
    return () => made.destroy();
    // oxlint-disable-next-line react/exhaustive-deps -- a new language is a new editor with the same text; what is said of it is set below
  }, [language, isFixed, placeholder]);

  useEffect(() => {
    const there = view.current!;
    there.dispatch({
      // the same
      effects: attributes.reconfigure(EditorView.contentAttributes.of(JSON.parse(said) as Record<string, string>)),
    });
  }, [said, attributes]);

  useEffect(() => {
    const { state } = view.current!;
    // what was typed comes back as it is
    if (state.doc.toString() !== value) view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: value } });
  }, [value]);

  return (
    <div
      ref={box}
      className="code-editor"
      data-invalid={isInvalid(props) || undefined}
      data-fixed={isFixed || undefined}
      data-language={language}
    />
  );
}
