// Written by scripts/make-database-types.ts from supabase/migrations.
import type { Json } from "@ergon/core";

export type Database = {
  public: {
    Tables: {
      agent_actions: {
        Row: {
          id: number;
          session_id: string | null;
          agent_name: string;
          action_type: string;
          target_type: string | null;
          target_id: string | null;
          request: Json;
          request_hash: string | null;
          response: Json | null;
          outcome: string;
          confidence_score: number | null;
          step_index: number | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        };
        Insert: {
          session_id?: string | null;
          agent_name: string;
          action_type: string;
          target_type?: string | null;
          target_id?: string | null;
          request?: Json;
          request_hash?: string | null;
          response?: Json | null;
          outcome: string;
          confidence_score?: number | null;
          step_index?: number | null;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Update: {
          session_id?: string | null;
          agent_name?: string;
          action_type?: string;
          target_type?: string | null;
          target_id?: string | null;
          request?: Json;
          request_hash?: string | null;
          response?: Json | null;
          outcome?: string;
          confidence_score?: number | null;
          step_index?: number | null;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Relationships: [];
      };
      capabilities: {
        Row: {
          id: string;
          name: string;
          group_name: string;
          description: string;
          embedding_text: string | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
        };
        Insert: {
          id?: string;
          name: string;
          group_name: string;
          description?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
        };
        Update: {
          id?: string;
          name?: string;
          group_name?: string;
          description?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
        };
        Relationships: [];
      };
      capability_levels: {
        Row: {
          capability_id: string;
          level: number;
          label: string;
          indicator: string;
        };
        Insert: {
          capability_id: string;
          level: number;
          label: string;
          indicator: string;
        };
        Update: {
          capability_id?: string;
          level?: number;
          label?: string;
          indicator?: string;
        };
        Relationships: [];
      };
      capability_skills: {
        Row: {
          capability_id: string;
          skill_id: string;
        };
        Insert: {
          capability_id: string;
          skill_id: string;
        };
        Update: {
          capability_id?: string;
          skill_id?: string;
        };
        Relationships: [];
      };
      chat_messages: {
        Row: {
          id: number;
          session_id: string;
          sender: string;
          message: string;
          tool_call: Json | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        };
        Insert: {
          session_id: string;
          sender: string;
          message: string;
          tool_call?: Json | null;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Update: {
          session_id?: string;
          sender?: string;
          message?: string;
          tool_call?: Json | null;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Relationships: [];
      };
      conversation_sessions: {
        Row: {
          id: string;
          user_id: string | null;
          mode: string;
          entity_id: string | null;
          status: string;
          summary: string | null;
          browser_session_id: string | null;
          created_at: string;
        };
        Insert: {
          id?: string;
          user_id?: string | null;
          mode?: string;
          entity_id?: string | null;
          status?: string;
          summary?: string | null;
          browser_session_id?: string | null;
          created_at?: string;
        };
        Update: {
          id?: string;
          user_id?: string | null;
          mode?: string;
          entity_id?: string | null;
          status?: string;
          summary?: string | null;
          browser_session_id?: string | null;
          created_at?: string;
        };
        Relationships: [];
      };
      match_thresholds: {
        Row: {
          model: string;
          pair: string;
          threshold: number;
        };
        Insert: {
          model: string;
          pair: string;
          threshold: number;
        };
        Update: {
          model?: string;
          pair?: string;
          threshold?: number;
        };
        Relationships: [];
      };
      profile_capabilities: {
        Row: {
          profile_id: string;
          capability_id: string;
          level: number;
          evidence: string | null;
        };
        Insert: {
          profile_id: string;
          capability_id: string;
          level: number;
          evidence?: string | null;
        };
        Update: {
          profile_id?: string;
          capability_id?: string;
          level?: number;
          evidence?: string | null;
        };
        Relationships: [];
      };
      profile_skills: {
        Row: {
          profile_id: string;
          skill_id: string;
          level: number;
          evidence: string | null;
        };
        Insert: {
          profile_id: string;
          skill_id: string;
          level: number;
          evidence?: string | null;
        };
        Update: {
          profile_id?: string;
          skill_id?: string;
          level?: number;
          evidence?: string | null;
        };
        Relationships: [];
      };
      profiles: {
        Row: {
          id: string;
          user_id: string | null;
          name: string;
          headline: string;
          current_role_id: string | null;
          location: string;
          years_experience: number;
          summary: string;
          embedding_text: string | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        };
        Insert: {
          id?: string;
          user_id?: string | null;
          name: string;
          headline?: string;
          current_role_id?: string | null;
          location?: string;
          years_experience?: number;
          summary?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Update: {
          id?: string;
          user_id?: string | null;
          name?: string;
          headline?: string;
          current_role_id?: string | null;
          location?: string;
          years_experience?: number;
          summary?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Relationships: [];
      };
      role_capabilities: {
        Row: {
          role_id: string;
          capability_id: string;
          level: number;
        };
        Insert: {
          role_id: string;
          capability_id: string;
          level?: number;
        };
        Update: {
          role_id?: string;
          capability_id?: string;
          level?: number;
        };
        Relationships: [];
      };
      role_skills: {
        Row: {
          role_id: string;
          skill_id: string;
          level: number;
        };
        Insert: {
          role_id: string;
          skill_id: string;
          level?: number;
        };
        Update: {
          role_id?: string;
          skill_id?: string;
          level?: number;
        };
        Relationships: [];
      };
      roles: {
        Row: {
          id: string;
          title: string;
          grade_band: string;
          division: string;
          location: string;
          primary_purpose: string;
          embedding_text: string | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
          created_at: string;
        };
        Insert: {
          id?: string;
          title: string;
          grade_band: string;
          division: string;
          location: string;
          primary_purpose: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Update: {
          id?: string;
          title?: string;
          grade_band?: string;
          division?: string;
          location?: string;
          primary_purpose?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
          created_at?: string;
        };
        Relationships: [];
      };
      skills: {
        Row: {
          id: string;
          name: string;
          category: string;
          description: string;
          embedding_text: string | null;
          embedding: string | null;
          embedding_model: string | null;
          embedding_dimensions: number | null;
        };
        Insert: {
          id?: string;
          name: string;
          category: string;
          description?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
        };
        Update: {
          id?: string;
          name?: string;
          category?: string;
          description?: string;
          embedding?: string | null;
          embedding_model?: string | null;
          embedding_dimensions?: number | null;
        };
        Relationships: [];
      };
      talent_staff: {
        Row: {
          user_id: string;
          talent_role: string;
        };
        Insert: {
          user_id: string;
          talent_role: string;
        };
        Update: {
          user_id?: string;
          talent_role?: string;
        };
        Relationships: [];
      };
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
