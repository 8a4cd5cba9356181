import { brokenInput } from './broken-input.ts';

brokenInput(1, 3);
