/** All that the shell and the screens in it say, as one file to load: our words and those of antd. */
import app from './text/app.en_US.ts';
import errors from './text/errors.en_US.ts';
import kit from './text/kit.en_US.ts';
import messages from './text/messages.en_US.ts';

export { default as rules } from 'virtual:rules-en_US';
export { default as antd } from 'antd/es/locale/en_US';
export const texts = { ...messages, ...kit, ...app, ...errors };
