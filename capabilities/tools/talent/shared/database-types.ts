// Written by scripts/make-database-types.ts from supabase/migrations.
import type { Json } from "@ergon/core";

export type Database = {
  public: {
    Tables: {
      agent_actions: Table<
        {
          agent_name: string;
          action_type: string;
          outcome: string;
        },
        {
          session_id: string | null;
          target_type: string | null;
          target_id: string | null;
          request: Json;
          request_hash: string | null;
          response: Json | null;
          confidence_score: number | null;
          step_index: number | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        },
        {
          id: number;
        }
      >;
      capabilities: Table<
        {
          name: string;
          group_name: string;
        },
        {
          id: string;
          description: string;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
        },
        {
          embedding_text: string | null;
        }
      >;
      capability_levels: Table<{
        capability_id: string;
        level: number;
        label: string;
        indicator: string;
      }>;
      capability_skills: Table<{
        capability_id: string;
        skill_id: string;
      }>;
      chat_messages: Table<
        {
          session_id: string;
          sender: string;
          message: string;
        },
        {
          tool_call: Json | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        },
        {
          id: number;
        }
      >;
      conversation_sessions: Table<
        object,
        {
          id: string;
          user_id: string | null;
          mode: string;
          entity_id: string | null;
          status: string;
          summary: string | null;
          browser_session_id: string | null;
          created_at: string;
        }
      >;
      match_thresholds: Table<{
        model: string;
        pair: string;
        threshold: number;
      }>;
      profile_capabilities: Table<
        {
          profile_id: string;
          capability_id: string;
          level: number;
        },
        {
          evidence: string | null;
        }
      >;
      profile_skills: Table<
        {
          profile_id: string;
          skill_id: string;
          level: number;
        },
        {
          evidence: string | null;
        }
      >;
      profiles: Table<
        {
          name: string;
        },
        {
          id: string;
          user_id: string | null;
          headline: string;
          current_role_id: string | null;
          location: string;
          years_experience: number;
          summary: string;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        },
        {
          embedding_text: string | null;
        }
      >;
      role_capabilities: Table<
        {
          role_id: string;
          capability_id: string;
        },
        {
          level: number;
        }
      >;
      role_skills: Table<
        {
          role_id: string;
          skill_id: string;
        },
        {
          level: number;
        }
      >;
      roles: Table<
        {
          title: string;
          grade_band: string;
          division: string;
          location: string;
          primary_purpose: string;
        },
        {
          id: string;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        },
        {
          embedding_text: string | null;
        }
      >;
      skills: Table<
        {
          name: string;
          category: string;
        },
        {
          id: string;
          description: string;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
        },
        {
          embedding_text: string | null;
        }
      >;
      talent_staff: Table<{
        user_id: string;
        talent_role: string;
      }>;
    };
    Views: Record<never, never>;
    Functions: {
      find_people: {
        Args: {
          query: string;
          max_results?: number;
        };
        Returns: {
          id: string;
          name: string;
          headline: string;
          current_role_id: string;
          similarity: number;
        }[];
      };
      find_roles: {
        Args: {
          query: string;
          max_results?: number;
        };
        Returns: {
          id: string;
          title: string;
          grade_band: string;
          similarity: number;
        }[];
      };
      match_chat_messages: {
        Args: {
          in_session: string;
          query_embedding: string;
          query_model: string;
          min_similarity?: number;
          max_results?: number;
        };
        Returns: {
          id: number;
          sender: string;
          message: string;
          similarity: number;
          created_at: string;
        }[];
      };
      match_profiles_for_role: {
        Args: {
          role_id: string;
          min_similarity?: number;
          max_results?: number;
        };
        Returns: {
          id: string;
          similarity: number;
          threshold: number;
        }[];
      };
      match_roles_for_profile: {
        Args: {
          profile_id: string;
          min_similarity?: number;
          max_results?: number;
        };
        Returns: {
          id: string;
          similarity: number;
          threshold: number;
        }[];
      };
      match_roles_for_role: {
        Args: {
          role_id: string;
          min_similarity?: number;
          max_results?: number;
        };
        Returns: {
          id: string;
          similarity: number;
          threshold: number;
        }[];
      };
      match_skills: {
        Args: {
          query_embedding: string;
          query_model: string;
          min_similarity?: number;
          max_results?: number;
        };
        Returns: {
          id: string;
          similarity: number;
          threshold: number;
        }[];
      };
      match_skills_for_role: {
        Args: {
          role_id: string;
          min_similarity?: number;
          max_results?: number;
        };
        Returns: {
          id: string;
          similarity: number;
          threshold: number;
        }[];
      };
      match_threshold: {
        Args: {
          for_model: string;
          for_pair: string;
        };
        Returns: number;
      };
      may_see_all_profiles: {
        Args: Record<never, never>;
        Returns: boolean;
      };
      measure_match_thresholds: {
        Args: {
          for_model: string;
        };
        Returns: undefined;
      };
      rows_to_embed: {
        Args: {
          for_model: string;
          max_rows?: number;
        };
        Returns: {
          kind: string;
          id: string;
          embedding_text: string;
        }[];
      };
      store_embeddings: {
        Args: {
          for_model: string;
          embedded: Json;
        };
        Returns: number;
      };
    };
  };
};

type Table<Needed, Optional = object, Made = object> = {
  Row: Needed & Optional & Made;
  Insert: Needed & Partial<Optional>;
  Update: Partial<Needed & Optional>;
  Relationships: [];
};
