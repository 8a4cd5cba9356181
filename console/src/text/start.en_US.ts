/** All that the pages before the shell say, as one file to load. */
import base from './base.en_US.ts';
import first from './first.en_US.ts';

export default { ...base, ...first };
