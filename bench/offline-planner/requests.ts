// Requests as people phrase them, with the tool that should come first and the arguments that the message itself gives.
// `held` ones were written with the others and never looked at while the planner was tuned.
export type EvalRequest = {
  readonly pack: "demo" | "talent" | "quick-data" | "none";
  readonly held: boolean;
  readonly text: string;
  /** Of pack `none`: "", no tool fits and it should ask. */
  readonly tool: string;
  /** Only those that the message says; defaults are the tool's own affair. */
  readonly args: Readonly<Record<string, unknown>>;
};

type Row = readonly [text: string, tool: string, args?: Readonly<Record<string, unknown>>];

export const REQUESTS: readonly EvalRequest[] = [
  ...of("demo", false, [
    ["greet Ada Lovelace", "demo::greet", { who: "Ada Lovelace" }],
    ['How many words are there in "to be or not to be"?', "demo::word_count", { text: "to be or not to be" }],
    ["what's 17 plus 25", "demo::add", { a: 17, b: 25 }],
    [
      "Sum up this text for me: The sea is wide. The boat is small. We row on.",
      "summarizeText",
      { text: "The sea is wide. The boat is small. We row on." },
    ],
    ["wait for 200 ms", "demo::sleep", { ms: 200 }],
    ["say Bonjour to Marie Curie", "demo::greet", { who: "Marie Curie" }],
    ["count the words: one small step for a man", "demo::word_count", { text: "one small step for a man" }],
  ]),
  ...of("demo", true, [
    ["please say hello to Grace Hopper", "demo::greet", { who: "Grace Hopper" }],
    [
      'I need the word count of "all that glitters is not gold"',
      "demo::word_count",
      { text: "all that glitters is not gold" },
    ],
    ["add 3.5 and 4", "demo::add", { a: 3.5, b: 4 }],
    [
      "Summarize: Ergon runs plans. Steps never run twice. People are asked when needed.",
      "summarizeText",
      { text: "Ergon runs plans. Steps never run twice. People are asked when needed." },
    ],
    ["could you pause for 50 milliseconds", "demo::sleep", { ms: 50 }],
    ["what do 8 and 9 make together", "demo::add", { a: 8, b: 9 }],
    ["welcome Alan Turing", "demo::greet", { who: "Alan Turing" }],
  ]),
  ...of("talent", false, [
    [
      "Which capabilities is Amara Osei missing for Data Engineer?",
      "getCapabilityGaps",
      { profileId: "amara-osei", roleId: "data-engineer" },
    ],
    [
      "what should Kwame Boateng learn first to become a Data Engineer",
      "getDevelopmentPlan",
      { profileId: "kwame-boateng", roleId: "data-engineer" },
    ],
    ["Which jobs would suit Amara Osei?", "getMatchingRolesForPerson", { profileId: "amara-osei" }],
    ["where could Ingrid Solheim's career go from here?", "getSuggestedCareerPaths", { profileId: "ingrid-solheim" }],
    [
      "recommend skills for Amara Osei that help towards Data Engineer",
      "getSemanticSkillRecommendations",
      { profileId: "amara-osei", roleId: "data-engineer" },
    ],
    [
      "how ready is kwame boatng for data engineer?",
      "getCapabilityGaps",
      { profileId: "kwame-boateng", roleId: "data-engineer" },
    ],
    [
      "make a training plan so that Ingrid Solheim is ready for Data Analyst",
      "getDevelopmentPlan",
      { profileId: "ingrid-solheim", roleId: "data-analyst" },
    ],
    ["who is in the workforce?", "getTalentNames"],
    [
      "find the top 3 roles that match Kwame Boateng",
      "getMatchingRolesForPerson",
      { profileId: "kwame-boateng", limit: 3 },
    ],
    [
      "what gaps does Ingrid Solheim have for the Data Engineer role",
      "getCapabilityGaps",
      { profileId: "ingrid-solheim", roleId: "data-engineer" },
    ],
  ]),
  ...of("talent", true, [
    [
      "What is Kwame Boateng lacking to be a Data Engineer?",
      "getCapabilityGaps",
      { profileId: "kwame-boateng", roleId: "data-engineer" },
    ],
    [
      "draw up a development plan for Amara Osei towards Data Engineer",
      "getDevelopmentPlan",
      { profileId: "amara-osei", roleId: "data-engineer" },
    ],
    ["which roles fit Ingrid Solheim best", "getMatchingRolesForPerson", { profileId: "ingrid-solheim" }],
    ["suggest career paths for Amara Osei", "getSuggestedCareerPaths", { profileId: "amara-osei" }],
    [
      "Which skills should Kwame Boateng pick up for Data Analyst?",
      "getSemanticSkillRecommendations",
      { profileId: "kwame-boateng", roleId: "data-analyst" },
    ],
    ["is amara osei redy for data enginer", "getCapabilityGaps", { profileId: "amara-osei", roleId: "data-engineer" }],
    [
      "what's next for Kwame Boateng in the company, career-wise?",
      "getSuggestedCareerPaths",
      { profileId: "kwame-boateng" },
    ],
    ["list all roles and people", "getTalentNames"],
    [
      "Who could mentor Amara Osei and what steps lead to Data Engineer?",
      "getDevelopmentPlan",
      { profileId: "amara-osei", roleId: "data-engineer" },
    ],
    [
      "show me 5 positions similar to what Amara Osei does",
      "getMatchingRolesForPerson",
      { profileId: "amara-osei", limit: 5 },
    ],
  ]),
  ...of("quick-data", false, [
    ["load the file sales.csv", "quick-data::load_dataset", { filePath: "sales.csv" }],
    ["read data/orders.parquet as orders", "quick-data::load_dataset", { filePath: "data/orders.parquet" }],
    ["which datasets are loaded?", "quick-data::list_datasets"],
    ["what is in the dataset sales?", "quick-data::describe_dataset", { dataset: "sales" }],
    ["what correlates with what in the sales dataset", "quick-data::find_correlations", { dataset: "sales" }],
    [
      "are there outliers in the dataset sales, by zscore?",
      "quick-data::detect_outliers",
      { dataset: "sales", method: "zscore" },
    ],
    [
      "group the dataset sales by the column region",
      "quick-data::segment_by_column",
      { dataset: "sales", by: "region" },
    ],
    [
      "how good is the quality of the dataset customers? any missing values or duplicates?",
      "quick-data::validate_data_quality",
      { dataset: "customers" },
    ],
    ["which csv files could I load?", "quick-data::find_data_files"],
    ["draw a bar chart of the dataset sales", "quick-data::create_chart", { dataset: "sales", kind: "bar" }],
    ["how are the values distributed in dataset sales", "quick-data::analyze_distributions", { dataset: "sales" }],
    ["show the trend over time in the dataset sales", "quick-data::time_series_analysis", { dataset: "sales" }],
    [
      "find the strongest relationships between columns of dataset housing",
      "quick-data::find_correlations",
      { dataset: "housing" },
    ],
  ]),
  ...of("quick-data", true, [
    ["open reports/2025.json", "quick-data::load_dataset", { filePath: "reports/2025.json" }],
    ["please import customers.csv for analysis", "quick-data::load_dataset", { filePath: "customers.csv" }],
    ["list my datasets", "quick-data::list_datasets"],
    ["describe the dataset housing", "quick-data::describe_dataset", { dataset: "housing" }],
    [
      "spearman correlations in dataset weather, please",
      "quick-data::find_correlations",
      { dataset: "weather", method: "spearman" },
    ],
    ["spot unusual numbers in the dataset sensors", "quick-data::detect_outliers", { dataset: "sensors" }],
    [
      "compare segments of dataset customers by the column plan",
      "quick-data::segment_by_column",
      { dataset: "customers", by: "plan" },
    ],
    [
      "check the dataset orders for missing values and duplicates",
      "quick-data::validate_data_quality",
      { dataset: "orders" },
    ],
    ["what data files do I have?", "quick-data::find_data_files"],
    ["plot a histogram of the dataset housing", "quick-data::create_chart", { dataset: "housing", kind: "histogram" }],
    [
      "show histograms and spread of every column in dataset weather",
      "quick-data::analyze_distributions",
      { dataset: "weather" },
    ],
    [
      "is there seasonality in the dataset weather over time?",
      "quick-data::time_series_analysis",
      { dataset: "weather" },
    ],
    ["make a scatter chart from dataset housing", "quick-data::create_chart", { dataset: "housing", kind: "scatter" }],
  ]),
  ...of("none", false, [
    ["paint the fence green", ""],
    ["book me a flight to Paris", ""],
    ["what will the weather be like tomorrow?", ""],
    ["translate this into German", ""],
  ]),
  ...of("none", true, [
    ["order a pizza with mushrooms", ""],
    ["play some jazz", ""],
    ["who won the world cup in 1998?", ""],
    ["turn off the kitchen lights", ""],
  ]),
];

function of(pack: EvalRequest["pack"], held: boolean, rows: readonly Row[]): readonly EvalRequest[] {
  return rows.map(([text, tool, args = {}]) => ({ pack, held, text, tool, args }));
}
