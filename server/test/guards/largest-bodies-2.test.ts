import { largestBodies } from './largest-bodies.ts';

largestBodies(2, 3);
