/**
 * The codes file of a fresh sandbox. The codes begin with 2, like codes that a shop prints itself. Only pets with much
 * stock have a level, so in a fresh sandbox `--low` selects the same pets with and without these levels.
 */
export const practiceCodes = `code,petId,name,low
2000000000015,1,Goldfish,
2000000000022,2,Parrot,
2000000000039,3,Guinea pig,
2000000000046,4,Rabbit,8
2000000000053,5,Red hamster,
2000000000060,6,Blue hamster,
2000000000077,7,Kitten,
2000000000084,8,Canary,
2000000000091,9,Puppy,
2000000000107,10,Budgie,
2000000000114,11,Neon tetra,20
2000000000121,12,Tortoise,
2000000000138,13,Gerbil,
2000000000145,14,Chinchilla,
2000000000152,15,Zebra finch,12
2000000000169,16,Ferret,
2000000000176,17,Corn snake,
2000000000183,18,Guppy,15
2000000000190,19,Gecko,
2000000000206,20,Stick insect,
2000000000213,21,Cockatiel,
2000000000220,9007199254740992,Axolotl,
2000000000237,9007199254740993,Clownfish,
2000000000244,9223372036854775807,Hermit crab,
`;
