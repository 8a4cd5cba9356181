import { brokenInput } from './broken-input.ts';

brokenInput(2, 3);
