/** Markdown drawn as elements, never as HTML text (markdown-parts.ts). */
import './markdown.css';
import { Fragment, type ReactNode } from 'react';
import { type Block, markdownOf, type Span } from './markdown-parts.ts';

// drawn whole from one text: a part has nothing else to be known by than its place
/* oxlint-disable react/no-array-index-key */
const spans = (all: readonly Span[]): ReactNode[] => all.map((span, index) => <Fragment key={index}>{drawn(span)}</Fragment>);

function drawn(span: Span): ReactNode {
  if (typeof span === 'string') return span;
  if (span.kind === 'code') return <code>{span.text}</code>;
  if (span.kind === 'strong') return <strong>{spans(span.label)}</strong>;
  if (span.kind === 'em') return <em>{spans(span.label)}</em>;
  return (
    <a href={span.href} target="_blank" rel="noopener noreferrer nofollow">
      {spans(span.label)}
    </a>
  );
}
const lines = (all: readonly Span[][]) =>
  all.map((line, index) => (
    <Fragment key={index}>
      {index > 0 && <br />}
      {spans(line)}
    </Fragment>
  ));

function OneBlock({ block }: { block: Block }) {
  if (block.kind === 'code') return <pre tabIndex={0}>{block.text}</pre>;
  if (block.kind === 'rule') return <hr />;
  if (block.kind === 'quote') return <blockquote>{lines(block.lines)}</blockquote>;
  if (block.kind === 'paragraph') return <p>{lines(block.lines)}</p>;
  if (block.kind === 'list') {
    const List = block.isNumbered ? 'ol' : 'ul';
    return (
      <List>
        {block.items.map((item, index) => (
          <li key={index}>{spans(item)}</li>
        ))}
      </List>
    );
  }
  // the page has headings of its own above these
  const Heading = block.level === 1 ? 'h3' : block.level === 2 ? 'h4' : 'h5';
  return <Heading>{spans(block.line)}</Heading>;
}

export const Markdown = ({ text }: { text: string }) => (
  <div className="markdown">
    {markdownOf(text).map((block, index) => (
      <OneBlock key={index} block={block} />
    ))}
  </div>
);
